"""The layout of a table: axes, groupings, and the trees that they form."""
