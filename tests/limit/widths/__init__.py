"""Tests of `inbounds.limit.widths`."""
