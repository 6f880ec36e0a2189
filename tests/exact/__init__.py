"""Tests of `inbounds.exact`."""
