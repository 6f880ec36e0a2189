"""Tests of `inbounds.privacy`."""
