"""Discovering categories, row limits and bounds privately, so that a contract can state them."""
