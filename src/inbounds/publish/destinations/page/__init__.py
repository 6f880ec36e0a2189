"""The parts of the page of a report: what it says, its tables, its charts, and how they look."""
