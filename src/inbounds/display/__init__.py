"""What people see besides answers: progress on long work."""
