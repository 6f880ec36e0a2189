"""Noisy measurements of a table: estimates, intervals, and how they are stored."""
