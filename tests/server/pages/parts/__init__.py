"""Tests of `inbounds.server.pages.parts`."""
