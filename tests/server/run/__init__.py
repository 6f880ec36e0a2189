"""Tests of `inbounds.server.run`."""
