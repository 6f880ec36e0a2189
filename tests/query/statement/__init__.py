"""Tests of statements."""
