"""The command line: a thin layer, one module a command."""
