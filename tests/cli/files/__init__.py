"""Tests of `inbounds.cli.files`."""
