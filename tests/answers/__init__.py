"""Tests of `inbounds.answers`."""
