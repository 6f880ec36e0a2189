"""Expressions over released values: their leaves, and what they are worth in a row."""
