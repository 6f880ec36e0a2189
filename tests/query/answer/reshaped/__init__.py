"""Tests of `inbounds.query.answer.reshaped`."""
