"""The pages of the custodian: datasets and their budgets, contracts, and keys."""
