"""Tests of `inbounds.limit`."""
