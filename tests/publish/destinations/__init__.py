"""Tests of where reports are published."""
