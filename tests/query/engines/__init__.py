"""Tests of engines and of what they read."""
