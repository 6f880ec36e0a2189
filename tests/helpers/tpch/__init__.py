"""The benchmark TPC-H as a database of customers: its files, a contract, its questions, and their rows by two roads."""
