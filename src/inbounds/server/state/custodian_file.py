"""The custodian's file: which contracts are served, from which ledger, to whom, where, and how much at once.

    [server]
    contracts = ["clinic.toml"]
    ledger = "budget.db"
    listen = "127.0.0.1:8750"

    [people.ana]
    role = "analyst"
    datasets = ["visits"]

Every complaint names the line, as those about contracts do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import ip_address, ip_network
from pathlib import Path

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import fraction, units
from inbounds.exact.rational import shown
from inbounds.ledger.values.address import is_address
from inbounds.ledger.values.names import check_name
from inbounds.query.ask.charging import MOST_PER_QUESTION
from inbounds.query.contract.contract import Contract
from inbounds.server.basics.limits import ServerLimits
from inbounds.server.basics.person import Person, Role

SECTIONS = ("server", "tls", "proxy", "identity", "people", "limits")
SERVER_KEYS = ("contracts", "ledger", "listen", "workers", "state", "public_url")
PERSON_KEYS = ("role", "datasets", MOST_PER_QUESTION)
LISTEN = "127.0.0.1:8750"
ENCRYPTED_OR_LOCAL = ("https://", "http://127.0.0.1:", "http://localhost:", "http://[::1]:")
HEADER = re.compile(r"[A-Za-z0-9-]+")
MOST_WORKERS = 64
"""On any machine: each takes 170 MB before it has read any data.  How many a machine has room for, `process` checks."""

LONGEST_PERSON = 100
"""A request id is a person's name, a slash and an Idempotency-Key, and a ledger takes 200 characters."""


@dataclass(frozen=True)
class Tls:
    """The files of a certificate."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Proxy:
    """Who may hand requests on, and in which header it tells whom it has authenticated."""

    addresses: tuple[str, ...]
    header: str | None = None

    def names(self, address: str | None) -> bool:
        """Return whether an address is the proxy's."""
        try:
            peer = ip_address(address or "")
        except ValueError:  # a Unix socket, or no connection: not a proxy that the file could name
            return False
        return any(peer in ip_network(network) for network in self.addresses)


@dataclass(frozen=True)
class Provider:
    """An identity provider that speaks OpenID Connect: whose tokens are accepted, and which claim is the name."""

    issuer: str
    audience: str
    """For whom its tokens are made: also what it calls this server, when somebody signs in with a browser."""
    claim: str = "email"
    client_secret_file: Path | None = None
    """Where the secret is that the server shows the provider; without one, PKCE alone proves that it is the same."""

    def secret(self) -> str | None:
        """Return the secret; it is in no other value, so that it is in no text."""
        if self.client_secret_file is None:
            return None
        try:
            secret = self.client_secret_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            secret = ""
        if not secret:
            raise InvalidParameter(
                f"the client secret file {str(self.client_secret_file)!r} cannot be read or is empty; name a file that "
                "contains only the secret"
            )
        return secret


@dataclass(frozen=True)
class CustodianFile:
    """All that the file decides."""

    contracts: tuple[Path, ...]
    ledger: str
    state: Path
    host: str
    port: int
    workers: int
    people: Mapping[str, Person]
    limits: ServerLimits = field(default_factory=ServerLimits)
    tls: Tls | None = None
    proxy: Proxy | None = None
    provider: Provider | None = None
    public_url: str | None = None
    """Where browsers find the server, if that is not where it listens."""

    @classmethod
    def load(cls, path: str | Path) -> CustodianFile:
        """Read the file: first each section by itself, then what two of them say together."""
        file = Contract.load(path)
        file.refuse_unknown(SECTIONS)
        file.refuse_unknown(SERVER_KEYS, "server")
        host, port = _listen(file)
        ledger = file.text_of("server", "ledger")
        state = _optional(file, "server", "state") or f"{file.stem}.server.db"
        settings = cls(
            contracts=tuple(_path(file, contract) for contract in _texts(file, "server", "contracts")),
            ledger=ledger if is_address(ledger) else str(_path(file, ledger)),
            state=_path(file, state),
            host=host,
            port=port,
            workers=_workers(file),
            people=_people(file),
            limits=ServerLimits.of(file),
            tls=_tls(file),
            proxy=_proxy(file),
            provider=_provider(file),
            public_url=_public_url(file),
        )
        if not is_address(settings.ledger) and Path(settings.ledger).resolve() == settings.state.resolve():
            raise file.refuse("state and ledger must be different files; rename one of them", "server")
        if not settings.is_local and settings.tls is None and settings.proxy is None:
            raise file.refuse(
                f"{settings.host} is reachable from other machines, and API keys must not travel in the clear; name a "
                "certificate under [tls] or a proxy with TLS under [proxy], or listen on 127.0.0.1",
                "server",
                "listen",
            )
        return settings

    def analysts_of(self, dataset: str) -> list[Person]:
        """Return the analysts who may ask a dataset."""
        return [person for person in self.people.values() if person.role is Role.ANALYST and person.may_see(dataset)]

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host == "localhost" or ip_address(self.host).is_loopback

    @property
    def url(self) -> str:
        """Where the server is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.tls is None else 'https'}://{host}:{self.port}"

    @property
    def home(self) -> str:
        """Where browsers find it: as the file says, and never as a request does."""
        return self.public_url or self.url


def _path(file: Contract, text: str) -> Path:
    return file.folder / Path(text).expanduser()


def _optional(file: Contract, *path: str) -> str | None:
    """Return a text, which is never empty; None if it is not there."""
    return file.text_of(*path) if file.has(*path) else None


def _texts(file: Contract, *path: str) -> list[str]:
    texts = file.value(*path)
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise file.refuse(f'{path[-1]} must be a list of strings, got {shown(texts)}; write it like ["one"]', *path)
    return texts


def _listen(file: Contract) -> tuple[str, int]:
    text = _optional(file, "server", "listen") or LISTEN
    host, _, port = text.rpartition(":")
    try:
        address = host.strip("[]")
        if address != "localhost":
            ip_address(address)
        if not port.isascii() or not port.isdigit() or not 0 <= int(port) <= 65535:
            raise ValueError
    except ValueError:
        raise file.refuse(
            f"listen must be an address and a port, got {shown(text)}; write it like {LISTEN!r}", "server", "listen"
        ) from None
    return address, int(port)


def _workers(file: Contract) -> int:
    if not file.has("server", "workers"):
        return 1
    workers = file.whole_of("server", "workers")
    if workers > MOST_WORKERS:
        raise file.refuse(
            f"workers must be at most {MOST_WORKERS}, got {shown(workers)}; write 1 or 2 for each processor",
            "server",
            "workers",
        )
    return workers


def _people(file: Contract) -> dict[str, Person]:
    return {name: _person(file, name) for name in file.table("people")}


def _person(file: Contract, name: str) -> Person:
    at = "people", name
    try:
        check_name(name, "the name of a person")
        if name != name.strip():
            raise InvalidParameter("a person's name must not begin or end with a space; remove it")
        if len(name) > LONGEST_PERSON:
            raise InvalidParameter(
                f"a person's name may have at most {LONGEST_PERSON} characters; choose a shorter one"
            )
    except InvalidParameter as problem:
        raise file.refuse(str(problem), *at) from None
    file.refuse_unknown(PERSON_KEYS, *at)
    role = file.text_of(*at, "role")
    known = [member.value for member in Role]
    if role not in known:
        raise file.refuse(
            f"role must be one of {', '.join(known)}, got {shown(role)}; choose one of these", *at, "role"
        )
    if Role(role) is not Role.ANALYST:
        for key in PERSON_KEYS[1:]:
            if file.has(*at, key):
                raise file.refuse(
                    f"only analysts have {key}, and this is {Role(role).with_article}; remove {key}", *at, key
                )
        return Person(name, Role(role))
    return Person(name, Role.ANALYST, tuple(_texts(file, *at, "datasets")), _most_per_question(file, at))


def _most_per_question(file: Contract, at: tuple[str, ...]) -> Fraction | None:
    """Return what one question of a person may cost, if the file says so."""
    if not file.has(*at, MOST_PER_QUESTION):
        return None
    try:
        return fraction(units(file.value(*at, MOST_PER_QUESTION), MOST_PER_QUESTION))
    except InvalidParameter as problem:
        raise file.refuse(str(problem), *at, MOST_PER_QUESTION) from None


def _tls(file: Contract) -> Tls | None:
    if not file.has("tls"):
        return None
    file.refuse_unknown(("certificate", "key"), "tls")
    return Tls(*(_path(file, file.text_of("tls", name)) for name in ("certificate", "key")))


def _proxy(file: Contract) -> Proxy | None:
    if not file.has("proxy"):
        return None
    file.refuse_unknown(("addresses", "header"), "proxy")
    addresses = _texts(file, "proxy", "addresses")
    for address in addresses:
        if not _is_somebody(address):
            raise file.refuse(
                f"addresses must be IP addresses or networks, got {shown(address)}; write them like '10.0.0.7'",
                "proxy",
                "addresses",
            )
    header = _optional(file, "proxy", "header")
    if header is not None and HEADER.fullmatch(header) is None:
        raise file.refuse(
            f"header must be the name of a header, got {shown(header)}; write it like 'X-Remote-User'",
            "proxy",
            "header",
        )
    return Proxy(tuple(addresses), header)


def _is_somebody(address: str) -> bool:
    """Return whether this is an address or a network, and not that of everybody, whom nothing would be asked of."""
    try:
        return ip_network(address).prefixlen > 0
    except ValueError:
        return False


def _provider(file: Contract) -> Provider | None:
    if not file.has("identity"):
        return None
    file.refuse_unknown(("issuer", "audience", "claim", "client_secret_file"), "identity")
    issuer = file.text_of("identity", "issuer")
    if not issuer.startswith(ENCRYPTED_OR_LOCAL):
        raise file.refuse(
            f"issuer must be an https:// address, got {shown(issuer)}; write it as the provider gives it",
            "identity",
            "issuer",
        )
    audience = file.text_of("identity", "audience")
    claim = _optional(file, "identity", "claim") or Provider.claim
    secret_file = _optional(file, "identity", "client_secret_file")
    return Provider(issuer, audience, claim, None if secret_file is None else _path(file, secret_file))


def _public_url(file: Contract) -> str | None:
    text = _optional(file, "server", "public_url")
    if text is None:
        return None
    url = text.rstrip("/")
    if not url.startswith(ENCRYPTED_OR_LOCAL) or url.count("/") != 2:
        raise file.refuse(
            f"public_url must be an https:// address without a path, got {shown(url)}; write it like "
            "'https://inbounds.hospital.example'",
            "server",
            "public_url",
        )
    return url
