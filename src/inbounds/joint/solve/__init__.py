"""From measurements to a possible table: project, round, verify."""
