"""Tests of the program that checks certificates."""
