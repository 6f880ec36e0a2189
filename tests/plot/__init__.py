"""Tests of `inbounds.plot`."""
