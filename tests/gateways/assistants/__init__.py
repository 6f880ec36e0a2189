"""Tests of the gateway for assistants."""
