"""Tests of noise that is the same wherever the answer is."""
