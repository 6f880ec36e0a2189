"""Expressions over released values."""
