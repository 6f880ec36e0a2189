"""Tests of `inbounds.query.methods.moments`."""
