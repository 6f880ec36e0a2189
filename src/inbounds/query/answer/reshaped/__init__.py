"""Answers in another shape, computed for free: pivots, and survival curves."""
