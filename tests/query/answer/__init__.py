"""Tests of `inbounds.query.answer`."""
