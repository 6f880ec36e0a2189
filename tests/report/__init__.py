"""Tests of reports as everybody has them."""
