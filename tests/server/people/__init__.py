"""Tests of `inbounds.server.people`."""
