"""Quantiles: one, or several in order."""
