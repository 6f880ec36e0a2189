"""What is asked: measures, conditions and groups, and which groups can exist."""
