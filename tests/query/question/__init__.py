"""Tests of `inbounds.query.question`."""
