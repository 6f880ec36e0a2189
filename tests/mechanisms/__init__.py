"""Tests of `inbounds.mechanisms`."""
