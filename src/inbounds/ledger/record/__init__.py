"""What is written and read inside a transaction: accounts, the chain of entries, and its verification."""
