"""Tests of `inbounds.limit.cells`."""
