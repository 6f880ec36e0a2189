"""Tests of questions to TPC-H."""
