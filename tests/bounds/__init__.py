"""Tests of `inbounds.bounds`."""
