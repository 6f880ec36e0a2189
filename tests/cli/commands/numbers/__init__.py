"""Tests of `inbounds.cli.commands.numbers`."""
