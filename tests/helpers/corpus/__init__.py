"""A corpus of questions that analysts ask of one clinic: three tables, what is answered, and what is refused."""
