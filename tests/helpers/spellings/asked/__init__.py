"""Questions that have to be answered, a module a theme."""
