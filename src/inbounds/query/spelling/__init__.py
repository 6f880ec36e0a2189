"""Other spellings of what the grammar reads: translated before anything is read, so that it stays small and closed."""
