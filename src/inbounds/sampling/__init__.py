"""Exact draws: `entropy` is the only source of randomness, `one` draws one value, `many` draws arrays."""
