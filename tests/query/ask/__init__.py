"""Tests of `inbounds.query.ask`."""
