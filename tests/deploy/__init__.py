"""Tests of the files for a deployment."""
