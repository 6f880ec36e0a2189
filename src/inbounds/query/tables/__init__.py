"""Tables: those of a contract, and those that are joined or grouped from them."""
