"""Exact draws: `entropy` is the only source of randomness, `scalar` draws one value, `array` draws many."""
