"""Exact numbers: rationals with named roundings, decimal texts, and ball arithmetic."""
