"""Exact numbers: rationals with named roundings, and ball arithmetic."""
