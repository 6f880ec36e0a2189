"""What is promised, the law that keeps it, the least scale that does, and the proof."""
