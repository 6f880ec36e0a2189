"""Signing in at an identity provider with a browser: the code flow of OpenID Connect, with PKCE, state and nonce."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

import httpx2

from inbounds.sampling.entropy import Entropy, system
from inbounds.server.basics.secret import as_text, new_secret
from inbounds.server.people.openid import UNUSABLE, WAIT_SECONDS, Tokens, fetch_json, find_endpoint
from inbounds.server.people.sign_ins import BACK, SignIn, SignIns
from inbounds.server.state.custodian_file import CustodianFile


@dataclass(frozen=True)
class ProviderRedirect:
    """Where to send a browser, and what to give it to come back with."""

    address: str
    cookie: str


@dataclass(frozen=True)
class ProviderSignIn:
    """Who somebody is, and which page was wanted."""

    name: str
    after: str


class CodeFlow:
    """Signs people in by the provider that the custodian's file names."""

    def __init__(self, file: CustodianFile, tokens: Tokens, sign_ins: SignIns, entropy: Entropy = system) -> None:
        assert file.provider is not None
        self._provider = file.provider
        self._client_secret = file.provider.secret()
        self._back = f"{file.home}{BACK}"
        self._tokens = tokens
        self._sign_ins = sign_ins
        self._entropy = entropy

    def begin(self, after: str) -> ProviderRedirect | None:
        """Return where to sign in; None if the provider cannot be reached."""
        try:
            with _client() as client:
                address = find_endpoint(client, self._provider.issuer, "authorization_endpoint")
        except UNUSABLE:
            return None
        cookie, state, nonce, verifier = (new_secret(self._entropy) for _ in range(4))
        # The provider is shown a digest of the verifier only: whoever intercepts the code cannot use it (PKCE).
        self._sign_ins.keep(cookie, SignIn(state, nonce, verifier, after))
        parameters = {
            "response_type": "code",
            "client_id": self._provider.audience,
            "redirect_uri": self._back,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": as_text(sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        return ProviderRedirect(f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}", cookie)

    def end(self, cookie: str, state: str, code: str) -> ProviderSignIn | None:
        """Return who comes back from the provider; None if anything is wrong.

        The cookie must be that of a sign-in that was begun here, the state must be its own, and the code must be worth
        a token that carries its nonce.
        """
        sign_in = self._sign_ins.take(cookie)
        if sign_in is None or not hmac.compare_digest(state.encode(), sign_in.state.encode()):
            return None
        token = self._token(code, sign_in.verifier)
        name = None if token is None else self._tokens.name(token, sign_in.nonce)
        return None if name is None else ProviderSignIn(name, sign_in.after)

    def _token(self, code: str, verifier: str) -> str | None:
        """Return the token that a code is worth."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back,
            "code_verifier": verifier,
        }
        secret = self._client_secret
        try:
            with _client() as client:
                address = find_endpoint(client, self._provider.issuer, "token_endpoint")
                if secret is None:
                    response = fetch_json(
                        client, "POST", address, data={**fields, "client_id": self._provider.audience}
                    )
                else:
                    response = fetch_json(client, "POST", address, data=fields, auth=(self._provider.audience, secret))
                token = response["id_token"]
        except UNUSABLE:
            return None
        return token if isinstance(token, str) else None


def _client() -> httpx2.Client:
    return httpx2.Client(timeout=WAIT_SECONDS, follow_redirects=False)
