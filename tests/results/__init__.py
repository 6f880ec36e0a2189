"""Tests of `inbounds.results`."""
