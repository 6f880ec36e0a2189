"""Tests of `inbounds.server.api`."""
