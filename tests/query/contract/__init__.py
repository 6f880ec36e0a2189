"""Tests of `inbounds.query.contract`."""
