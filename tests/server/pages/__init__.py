"""Tests of the pages: in this process, and in `browser` with a real one."""
