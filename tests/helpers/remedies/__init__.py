"""Refusals, and what is asked after following their remedies, step by step."""
