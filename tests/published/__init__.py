"""Tests of `inbounds.published`."""
