"""The closed grammar of SQL conditions and expressions, read with sqlglot."""
