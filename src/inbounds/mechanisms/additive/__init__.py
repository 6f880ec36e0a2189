"""Noise that is the same wherever the answer is, and what happens to it at the ends of the bounds."""
