"""Tests of `inbounds.sampling`."""
