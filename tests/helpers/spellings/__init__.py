"""A third corpus: questions as analysts and their tools write them, with what is true by plain Python."""
