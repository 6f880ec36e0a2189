"""Tests of `inbounds.accuracy`."""
