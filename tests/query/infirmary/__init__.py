"""Tests of questions to the infirmary."""
