"""Tokens of an identity provider that speaks OpenID Connect: whose they are, by its published keys."""

from __future__ import annotations

import threading
from typing import Any

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from inbounds.server import clock
from inbounds.server.custodian_file import Provider

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a private key only: neither none, nor one that whoever checks it could make."""

KEEP_SECONDS = 3600
LEAST_SECONDS = 30
"""Published keys are asked for again after so long; and at the earliest, when a token names one that is not there."""

LEEWAY = 30
"""Clocks differ by so many seconds."""


class Tokens:
    """Reads tokens of one provider."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._keys: KeySet | None = None
        self._asked = -float("inf")
        self._turn = threading.Lock()

    def name(self, token: str) -> str | None:
        """Return whom a token is about, None if it is not valid here and now."""
        for fresh in (False, True):
            keys = self._published(fresh)
            if keys is None:
                return None
            try:
                claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            except (JoseError, ValueError, KeyError, TypeError):
                continue  # perhaps the provider has new keys
            return self._checked(claims)
        return None

    def _checked(self, claims: dict[str, Any]) -> str | None:
        rules = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": self._provider.audience},
            exp={"essential": True},
        )
        try:
            rules.validate(claims)
        except (JoseError, ValueError, TypeError):
            return None
        if self._provider.claim == "email" and claims.get("email_verified") is False:
            return None
        found = claims.get(self._provider.claim)
        return found if isinstance(found, str) else None

    def _published(self, fresh: bool) -> KeySet | None:
        """Return the provider's keys: those that were asked for last, or newer ones."""
        with self._turn:
            wanted = KEEP_SECONDS if self._keys is not None and not fresh else LEAST_SECONDS
            if clock.seconds() - self._asked > wanted:
                self._asked = clock.seconds()
                self._keys = self._fetched() or self._keys
            return self._keys

    def _fetched(self) -> KeySet | None:
        try:
            with httpx.Client(timeout=5, follow_redirects=False) as client:
                where = f"{self._provider.issuer.rstrip('/')}/.well-known/openid-configuration"
                said = client.get(where).raise_for_status().json()
                if said["issuer"] != self._provider.issuer:
                    return None
                return KeySet.import_key_set(client.get(said["jwks_uri"]).raise_for_status().json())
        except (httpx.HTTPError, JoseError, ValueError, KeyError, TypeError):
            return None
