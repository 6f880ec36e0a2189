"""Tests of `inbounds.limit.program`."""
