"""Tests of `inbounds.server.basics`."""
