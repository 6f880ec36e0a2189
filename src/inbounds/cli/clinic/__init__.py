"""A made-up clinic: its table, its questions, and what plain noise would answer."""
