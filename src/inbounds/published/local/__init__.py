"""What the mechanisms of the local model share: laws of a few runs of equal probabilities, with the same total for all.

In the local model each person releases their own answer, so that any two possible answers are neighbours: the
sensitivity is the width of the bounds.  The papers' laws are densities on the real line with two levels, one
`exp(epsilon)` times the other, the higher one in a window around the truth.  Here the windows are whole numbers of
steps and the levels are whole numbers, so that probabilities are fractions, add up to one exactly, and are drawn
exactly.
"""
