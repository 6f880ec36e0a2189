"""Tests of questions as code."""
