"""Tests of the pages in a real browser, against a server in a process of its own."""
