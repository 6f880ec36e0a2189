"""What a ledger speaks of: amounts, accounts, entries, receipts."""
