"""Reports, read, planned, run and written."""
