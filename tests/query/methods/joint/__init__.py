"""Tests of `inbounds.query.methods.joint`."""
