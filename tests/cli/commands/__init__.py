"""Tests of `inbounds.cli.commands`."""
