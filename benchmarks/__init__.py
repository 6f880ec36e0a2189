"""How fast `inbounds` is, and what its timing gives away, next to its peers and to unsafe NumPy.

Run by `make bench`. All that counts is a ratio within one run: ours and theirs take turns, so that a
busy machine slows both. Nothing here fails because something was slow.
"""
