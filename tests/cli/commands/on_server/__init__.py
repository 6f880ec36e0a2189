"""Tests of commands about what is on a server."""
