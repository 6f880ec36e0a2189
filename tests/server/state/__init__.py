"""Tests of `inbounds.server.state`."""
