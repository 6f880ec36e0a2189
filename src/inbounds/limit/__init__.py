"""The limit: the least error that any private mechanism on a small lattice can have, by linear programming."""
