"""Tests of `inbounds.files`."""
