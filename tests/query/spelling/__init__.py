"""Tests of reading SQL."""
