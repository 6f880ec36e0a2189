"""Commands about numbers, which are released, planned and certified without a table."""
