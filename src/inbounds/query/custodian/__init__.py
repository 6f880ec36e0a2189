"""What only the custodian sees: drafts of contracts, and true figures of a table."""
