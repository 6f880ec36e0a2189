"""Mechanisms: what all of them share, and `BoundedLaplace`."""
