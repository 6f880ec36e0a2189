"""How far off a release will be: the distribution around a true answer, and averages over true answers."""
