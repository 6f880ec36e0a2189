"""Tests of SQL as it is written."""
