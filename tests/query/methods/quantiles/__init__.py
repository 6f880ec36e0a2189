"""Tests of `inbounds.query.methods.quantiles`."""
