"""Tests of the documents and the site."""
