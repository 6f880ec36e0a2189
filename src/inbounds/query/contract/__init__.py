"""The custodian's contract: what the file says, section by section."""
