"""Tests of `inbounds.display`."""
