"""Tests of `inbounds.choosing`."""
