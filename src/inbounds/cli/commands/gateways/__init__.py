"""Commands that start a gateway: another way to a server."""
