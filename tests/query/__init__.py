"""Tests of questions to tables."""
