"""Cells: values that an optimal mechanism treats alike, and its distribution over them."""
