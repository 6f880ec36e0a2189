"""A second corpus: questions to an infirmary of related tables, what is answered, what is refused, and the truth."""
