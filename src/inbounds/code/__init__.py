"""A question as code, for whoever goes on elsewhere: in SQL, in Python, in a report's file, and as a notebook."""
