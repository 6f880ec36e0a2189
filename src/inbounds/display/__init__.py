"""What people see: progress on long work, tables, and lists of facts."""
