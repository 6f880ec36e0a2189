"""Tests of `inbounds.query.answer.released`."""
