"""Answers in and out: read from whatever the caller holds onto a lattice, and written back as the same kind."""
