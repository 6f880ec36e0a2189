"""What is promised, the law that keeps it, a scale that does, and the proof."""
