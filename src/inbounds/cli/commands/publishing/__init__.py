"""Commands about what is published: reports, and answers that are shared."""
