"""Secrets that are handed out: 256 random bits as text, and the digest that is stored of one in its place."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256

from inbounds.sampling.entropy import Entropy, system


def new_secret(entropy: Entropy = system) -> str:
    """Return 256 random bits as a text that fits into a header, a cookie or an address."""
    return as_text(entropy(32))


def new_id(entropy: Entropy = system) -> str:
    """Return 128 random bits as a text: what a report or a link is called, which tells nothing of any other."""
    return entropy(16).hex()


def as_text(data: bytes) -> str:
    """Return bytes as letters, digits, - and _."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def digest_of(secret: str) -> str:
    """Return what is stored of a secret: with 256 random bits in it, SHA-256 is enough."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
