"""How wide cells are best, and what that proves of all mechanisms: no program is solved."""
