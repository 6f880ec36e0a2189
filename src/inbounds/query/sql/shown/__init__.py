"""How what is released is shown: names, expressions, windows, and a SELECT over what another one releases."""
