"""Engines: where tables are.  Drivers are imported here and nowhere else."""
