"""Files that appear whole, or not at all; and csv as text."""
