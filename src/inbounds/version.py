"""The version, of this package and of the client that is built from it."""

__version__ = "0.1.0"
