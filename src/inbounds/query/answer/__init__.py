"""What comes back: released values, the view of them, and explanations."""
