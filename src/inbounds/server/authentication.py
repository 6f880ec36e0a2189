"""Who asks: by a key, by a token of the identity provider, or as the proxy says that it has authenticated."""

from __future__ import annotations

from starlette.datastructures import Headers

from inbounds.server.custodian_file import CustodianFile
from inbounds.server.key_ring import KeyRing
from inbounds.server.openid import Tokens
from inbounds.server.person import Person
from inbounds.server.problem import Problem

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="inbounds"'}


class Authentication:
    """Tells who sent a request; whoever the custodian's file does not name is nobody."""

    def __init__(self, file: CustodianFile, keys: KeyRing) -> None:
        self._file = file
        self._keys = keys
        self._tokens = None if file.provider is None else Tokens(file.provider)

    def person(self, address: str | None, headers: Headers) -> Person:
        """Return who asks, or refuse with one and the same answer, whatever is wrong."""
        name = self._name(address, headers)
        found = None if name is None else self._file.people.get(name)
        if found is None:
            raise Problem(
                "not-authenticated",
                "send a valid key: 'Authorization: Bearer inb_…'; the custodian issues one",
                headers=CHALLENGE,
            )
        return found

    def _name(self, address: str | None, headers: Headers) -> str | None:
        sent = headers.getlist("authorization")
        if sent:
            return self._shown(sent[0]) if len(sent) == 1 else None  # of two, a proxy may have checked the other one
        proxy = self._file.proxy
        if proxy is None or proxy.header is None or not proxy.names(address):
            return None
        told = headers.getlist(proxy.header)
        return told[0] if len(told) == 1 else None  # of two, one may be the sender's own

    def _shown(self, authorization: str) -> str | None:
        """Return who shows a key or a token; whatever else there is in this header opens nothing."""
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() != "bearer":
            return None
        shown = credentials.strip()
        if self._tokens is not None and shown.count(".") == 2:
            return self._tokens.name(shown)
        return self._keys.holder(shown)
