"""Whole tables that are possible, not only their cells: measured together, made consistent, and checked."""
