"""Tests of `inbounds.joint`."""
