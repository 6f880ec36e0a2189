"""What makes two questions one: a text that is the same however a question is spelled."""
