"""Tests of `inbounds.cli.commands.publishing`."""
