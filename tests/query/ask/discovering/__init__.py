"""Tests of `inbounds.query.ask.discovering`."""
