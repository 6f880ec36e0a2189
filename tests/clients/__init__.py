"""Clients in other languages."""
