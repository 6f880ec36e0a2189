"""Tests of `inbounds.server.pages.pictures`."""
