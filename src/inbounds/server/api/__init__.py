"""The interface for programs, version 1: one module for each noun."""
