"""Tokens of an identity provider that speaks OpenID Connect: whose they are, by its published keys."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from inbounds.server.basics import clock
from inbounds.server.state.custodian_file import Provider

ALGORITHMS = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
]  # fmt: skip
"""Signatures by a private key only: neither none, nor one that whoever checks it could make."""

KEEP_SECONDS = 3600
LEAST_SECONDS = 30
"""Published keys are asked for again after so long; and at the earliest, when a token names one that is not there."""

WAIT_SECONDS = 5
"""For the provider to connect, or to say something more; and for whoever asks it for the first keys."""

MOST_BYTES = 1_000_000
"""Of what a provider publishes."""

LONGEST_TOKEN = 8192

LEEWAY = 30
"""Clocks differ by so many seconds."""

_WRONG = (JoseError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What a token that is none may raise when it is read: whatever it is, it is nobody's."""


class Tokens:
    """Reads tokens of one provider."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._keys: KeySet | None = None
        self._asked = -float("inf")
        self._turn = threading.Lock()

    def name(self, token: str, nonce: str | None = None) -> str | None:
        """Return whom a token is about, None if it is not valid here and now, or not the one that was asked for."""
        if len(token) > LONGEST_TOKEN:
            return None
        for fresh in (False, True):  # first with the keys at hand, then with those that the provider has now
            keys = self._key_set(fresh)
            if keys is None:
                return None
            try:
                claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            except _WRONG:
                continue
            return self._validated_name(claims, nonce)
        return None

    def _validated_name(self, claims: dict[str, Any], nonce: str | None) -> str | None:
        rules = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": self._provider.audience},
            exp={"essential": True},
        )
        try:
            rules.validate(claims)
        except _WRONG:
            return None
        if claims.get("iss") != self._provider.issuer:
            return None  # a list of issuers, which joserfc before 1.7.5 takes for each of them
        if nonce is not None and claims.get("nonce") != nonce:
            return None  # it was made for another occasion
        if self._provider.claim == "email" and claims.get("email_verified") is not True:
            return None  # somebody may have written another's address into a profile
        name = claims.get(self._provider.claim)
        return name if isinstance(name, str) else None

    def _key_set(self, fresh: bool) -> KeySet | None:
        """Return the provider's keys: those that were asked for last, or newer ones.

        One request asks, and the others go on with what there is: a provider that is slow or down holds up nobody who
        can do without it.
        """
        # Without any keys a token cannot be read at all, so then everybody waits; with old ones nobody does.
        if not self._turn.acquire(timeout=WAIT_SECONDS if self._keys is None else 0):
            return self._keys
        try:
            max_age = KEEP_SECONDS if self._keys is not None and not fresh else LEAST_SECONDS
            if clock.seconds() - self._asked > max_age:
                self._asked = clock.seconds()
                self._keys = self._fetch_keys() or self._keys
            return self._keys
        finally:
            self._turn.release()

    def _fetch_keys(self) -> KeySet | None:
        issuer = self._provider.issuer
        try:
            with httpx2.Client(timeout=WAIT_SECONDS, follow_redirects=False) as client:
                return KeySet.import_key_set(fetch_json(client, "GET", find_endpoint(client, issuer, "jwks_uri")))
        except UNUSABLE:
            return None


UNUSABLE = (httpx2.HTTPError, httpx2.InvalidURL, *_WRONG)
"""What asking a provider may raise."""


def find_endpoint(client: httpx2.Client, issuer: str, name: str) -> str:
    """Return one of the addresses that a provider publishes, or raise: none in the clear, if it is not itself."""
    document = fetch_json(client, "GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    address = str(document[name])
    if document["issuer"] != issuer or (issuer.startswith("https://") and not address.startswith("https://")):
        raise ValueError
    return address


def fetch_json(client: httpx2.Client, method: str, address: str, **more: Any) -> Any:
    """Return what is said at an address, if it is not too long and does not take too long."""
    until, body = clock.seconds() + WAIT_SECONDS, b""
    with client.stream(method, address, **more) as response:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MOST_BYTES or clock.seconds() > until:
                raise ValueError
    return json.loads(body)
