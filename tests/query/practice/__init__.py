"""Tests of `inbounds.query.practice`."""
