"""Who asks: by a key, by a token of the identity provider, or as the proxy says that it has authenticated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.custodian_file import CustodianFile, Provider

if TYPE_CHECKING:
    from inbounds.server.people.openid import Tokens

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="inbounds"'}


class Authentication:
    """Tells who sent a request; whoever the custodian's file does not name is nobody."""

    def __init__(self, file: CustodianFile, keys: KeyRing) -> None:
        self._file = file
        self._keys = keys
        self.tokens = None if file.provider is None else _tokens(file.provider)

    def person(self, address: str | None, headers: Headers) -> Person:
        """Return who asks, or refuse with one and the same answer, whatever is wrong."""
        name = self._name(address, headers)
        person = None if name is None else self._file.people.get(name)
        if person is None:
            raise Problem(
                "not-authenticated",
                "send a valid API key as 'Authorization: Bearer inb_…'; your custodian can issue one",
                headers=CHALLENGE,
            )
        return person

    def _name(self, address: str | None, headers: Headers) -> str | None:
        values = headers.getlist("authorization")
        if len(values) > 1:  # a proxy may have checked the other one
            return None
        scheme, _, rest = "".join(values).partition(" ")
        if scheme.lower() == "bearer":
            credential = rest.strip()
            if self.tokens is not None and credential.count(".") == 2:
                return self.tokens.name(credential)
            return self._keys.holder(credential)
        proxy = self._file.proxy
        if scheme == "" and proxy is not None and proxy.header is not None and proxy.names(address):
            names = headers.getlist(proxy.header)
            return names[0] if len(names) == 1 else None  # with two, one may be what the person sent to the proxy
        return None


def _tokens(provider: Provider) -> Tokens:
    from inbounds.server.people.openid import Tokens  # noqa: PLC0415  whoever starts with keys alone does not wait for it

    return Tokens(provider)
