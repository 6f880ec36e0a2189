"""Tokens of an identity provider: whose they are, and what opens nothing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from inbounds.server.people import openid
from inbounds.server.people.openid import Tokens
from inbounds.server.state.custodian_file import Provider
from tests.helpers.provider import AUDIENCE, KNOWN, Signer, provider_process, signed_in
from tests.helpers.served_hospital import Served, build, free_port, wait_for

PROVIDER = """
[identity]
issuer = "{issuer}"
audience = "inbounds"
"""


@contextmanager
def trusting(folder: Path, issuer: str) -> Iterator[Served]:
    """Serve to whom a provider knows."""
    found = build(folder / "hospital", more=PROVIDER.format(issuer=issuer) + KNOWN)
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def signer() -> Iterator[Signer]:
    """A provider of this process."""
    found = Signer()
    yield found
    found.close()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys may be asked for again at once."""
    monkeypatch.setattr(openid, "LEAST_SECONDS", -1)


def who(served: Served, token: str) -> Any:
    """Return whom a token is about; None if it opens nothing, and then nothing tells why."""
    said = served.bearing(token).get("/v1/me")
    if said.status_code == 200:
        return said.json()["name"]
    nobody = served.nobody.get("/v1/me")
    assert (said.status_code, said.content) == (401, nobody.content)
    differing = {"x-request-number"}
    assert {name: one for name, one in said.headers.items() if name not in differing} == {
        name: one for name, one in nobody.headers.items() if name not in differing
    }
    return None


@pytest.mark.slow
def test_a_real_provider_tells_who_asks(tmp_path: Path, hurried: None) -> None:
    """A token from the code flow of a real provider opens what is that person's, and nothing that is not meant to."""
    port = free_port()
    with trusting(tmp_path, f"http://127.0.0.1:{port}") as served:
        with provider_process(port) as issuer:
            token = signed_in(issuer, "1")
            assert who(served, token) == "ana@hospital.example"
            assert served.bearing(token).ask("q1").status_code == 200
            with served.service.holdings.reading() as ledger:
                assert ledger.request("ana@hospital.example/q1") is not None
            assert who(served, signed_in(issuer, "1", client="another application")) is None
            assert who(served, signed_in(issuer, "2")) is None  # whose address is not verified
            assert who(served, signed_in(issuer, "mallory@hospital.example")) is None
            with provider_process() as other:
                assert who(served, signed_in(other, "1")) is None
        assert who(served, token) == "ana@hospital.example"  # the provider is down, and its keys are kept
        with trusting(tmp_path / "again", issuer) as late:
            assert who(late, token) is None  # which has never seen them
        with provider_process(port):  # with new keys
            assert who(served, signed_in(issuer, "1")) == "ana@hospital.example"
            assert who(served, token) is None
        with provider_process(port, seconds=-100):
            assert who(served, signed_in(issuer, "1")) is None


def public_text(key: RSAKey) -> bytes:
    """Return a public key as everybody has it."""
    return key.as_pem(private=False)


def unsigned(header: Any, claims: Any) -> str:
    """Return a token without a signature."""
    parts = (base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in (header, claims))
    return f"{'.'.join(parts)}."


def hmac_token(signer: Signer) -> str:
    """Return a token that is signed by a secret that is none: the public key."""
    text = unsigned({"alg": "HS256", "kid": "first", "typ": "JWT"}, signer.claims()).removesuffix(".")
    made = hmac.new(public_text(signer.key), text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


SOON = 600

FORGED: dict[str, Callable[[Signer], str]] = {
    "another audience": lambda one: one.token(aud="other"),
    "several others": lambda one: one.token(aud=["other", "inbounds.evil"]),
    "no audience": lambda one: one.token(aud=None),
    "an audience that is no text": lambda one: one.token(aud={"inbounds": 1}),
    "another issuer": lambda one: one.token(iss="http://127.0.0.1:1"),
    "an issuer with a slash": lambda one: one.token(iss=f"{one.issuer}/"),
    "no issuer": lambda one: one.token(iss=None),
    "issuers": lambda one: one.token(iss=[one.issuer]),
    "expired": lambda one: one.token(exp=int(time.time()) - SOON),
    "never expires": lambda one: one.token(exp=None),
    "expires in words": lambda one: one.token(exp="tomorrow"),
    "expires at true": lambda one: one.token(exp=True),
    "not yet": lambda one: one.token(nbf=int(time.time()) + SOON),
    "from the future": lambda one: one.token(iat=int(time.time()) + SOON),
    "not verified": lambda one: one.token(email_verified=False),
    "not said to be verified": lambda one: one.token(email_verified=None),
    "verified in words": lambda one: one.token(email_verified="false"),
    "somebody else": lambda one: one.token(email="mallory@hospital.example"),
    "in capitals": lambda one: one.token(email="ANA@hospital.example"),
    "nobody": lambda one: one.token(email=None),
    "two people": lambda one: one.token(email=["ana@hospital.example"]),
    "the subject is": lambda one: one.token(sub="ana@hospital.example", email="mallory@hospital.example"),
    "no signature": lambda one: unsigned({"alg": "none"}, one.claims()),
    "no signature, a kid": lambda one: unsigned({"alg": "none", "kid": "first"}, one.claims()),
    "None": lambda one: unsigned({"alg": "NONE", "kid": "first"}, one.claims()),
    "a signature cut off": lambda one: one.token().rpartition(".")[0] + ".",
    "signed by the public key": hmac_token,
    "another key under its name": lambda one: one.token(RSAKey.generate_key(2048)),
    "another key": lambda one: one.token(RSAKey.generate_key(2048), {"alg": "RS256", "kid": "second"}),
    "a key that it brings": lambda one: bringing(one, RSAKey.generate_key(2048)),
    "keys elsewhere": lambda one: one.token(
        RSAKey.generate_key(2048), {"alg": "RS256", "kid": "first", "jku": "http://127.0.0.1:1/keys"}
    ),
    "a curve": lambda one: one.token(ECKey.generate_key("P-256"), {"alg": "ES256", "kid": "first"}),
    "what must be understood": lambda one: unsigned({"alg": "RS256", "crit": ["x"], "x": 1}, one.claims()) + "AAAA",
    "other claims": lambda one: altered(one, email="mallory@hospital.example"),
    "too long": lambda one: one.token(more="x" * 9000),
}


def bringing(signer: Signer, own: RSAKey) -> str:
    """Return a token with the key that it is signed by."""
    return signer.token(own, {"alg": "RS256", "jwk": own.as_dict(private=False)})


def altered(signer: Signer, **claims: Any) -> str:
    """Return a token that was signed with other claims."""
    header, _, signature = signer.token(**claims).split(".")
    return f"{header}.{unsigned({}, signer.claims()).split('.')[1]}.{signature}"


@pytest.mark.slow
def test_whatever_is_forged_is_refused_alike(tmp_path: Path, signer: Signer, hurried: None) -> None:
    """A token that is wrong in anything opens nothing, and body and headers are those of no token at all."""
    with trusting(tmp_path, signer.issuer) as served:
        assert who(served, signer.token()) == "ana@hospital.example"
        assert who(served, signer.token(aud=["other", AUDIENCE])) == "ana@hospital.example"
        opened = {why for why, forge in FORGED.items() if who(served, forge(signer)) is not None}
    assert opened == set()


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (RSAKey.generate_key(2048, {"kid": "first"}), "PS256"),
        (ECKey.generate_key("P-256", {"kid": "first"}), "ES256"),
        (ECKey.generate_key("P-384", {"kid": "first"}), "ES384"),
        (OKPKey.generate_key("Ed25519", {"kid": "first"}), "Ed25519"),
    ],
)
def test_a_provider_may_sign_by_any_private_key(signer: Signer, key: Any, algorithm: str) -> None:
    """Tokens by RSA and by elliptic curves are read."""
    signer.key = key
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    assert tokens.name(signer.token(header={"alg": algorithm, "kid": "first"})) == "ana@hospital.example"


def test_a_secret_that_is_published_signs_nothing(signer: Signer) -> None:
    """A provider that publishes a shared secret by mistake does not let everybody in who reads it."""
    secret = OctKey.generate_key(256, {"kid": "first"})
    signer.published = {"keys": [secret.as_dict(private=True)]}
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    assert tokens.name(signer.token(secret, {"alg": "HS256", "kid": "first"})) is None


def test_another_claim_can_be_the_name(signer: Signer) -> None:
    """The custodian says which claim is the name; only an address needs to be verified."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE, "sub"))
    assert tokens.name(signer.token(email_verified=None)) == "1"


def test_keys_may_change(signer: Signer, hurried: None) -> None:
    """After the provider has changed its keys, tokens by the new one open and tokens by the old one do not."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    before = signer.token()
    assert tokens.name(before) == "ana@hospital.example"
    signer.key = RSAKey.generate_key(2048, {"kid": "second"})
    after = signer.token(header={"alg": "RS256", "kid": "second"})
    assert tokens.name(after) == "ana@hospital.example"
    assert tokens.name(before) is None


def test_wrong_tokens_do_not_make_us_ask(signer: Signer) -> None:
    """However many unknown keys tokens name, the provider is asked once in a while only."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    for number in range(50):
        assert tokens.name(signer.token(header={"alg": "RS256", "kid": f"{number}"})) is None
    assert signer.asked == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "published", [[], {"keys": []}, {"keys": [{}]}, {"keys": "x"}, None, {"keys": [{"kty": "RSA"}]}]
)
def test_keys_that_are_none_do_not_replace_those_we_have(signer: Signer, hurried: None, published: Any) -> None:
    """What a provider publishes in error is not taken for its keys."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    assert tokens.name(signer.token()) is not None
    signer.published = published
    assert tokens.name(signer.token(header={"alg": "RS256", "kid": "unknown"})) is None
    assert tokens.name(signer.token()) is not None


def test_keys_are_kept_while_the_provider_is_down(signer: Signer, hurried: None) -> None:
    """A provider that is gone for a while locks nobody out whose key was seen."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    token = signer.token()
    assert tokens.name(token) is not None
    signer.close()
    assert tokens.name("a.b.c") is None
    assert tokens.name(token) is not None


def test_another_issuer_is_not_believed(signer: Signer) -> None:
    """What is published by an address that calls itself something else are nobody's keys."""
    there = signer.issuer.replace("127.0.0.1", "localhost")
    assert Tokens(Provider(there, AUDIENCE)).name(signer.token(iss=there)) is None


def test_keys_travel_as_safely_as_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider under https that names keys in the clear is not believed."""
    asked: list[str] = []

    def read(_: Any, method: str, where: str) -> Any:
        asked.append(f"{method} {where}")
        return {"issuer": "https://provider.example", "jwks_uri": "http://provider.example/keys"}

    monkeypatch.setattr(openid, "fetch_json", read)
    assert Tokens(Provider("https://provider.example", AUDIENCE)).name("a.b.c") is None
    assert asked == ["GET https://provider.example/.well-known/openid-configuration"]


def test_a_provider_that_says_nothing_holds_up_nobody(
    signer: Signer, monkeypatch: pytest.MonkeyPatch, hurried: None
) -> None:
    """While one request waits for a provider that is silent, others are answered by the keys that there are."""
    tokens = Tokens(Provider(signer.issuer, AUDIENCE))
    token = signer.token()
    assert tokens.name(token) is not None
    silent, heard = threading.Event(), threading.Event()

    def read(*_: Any) -> Any:
        heard.set()
        silent.wait(30)
        raise ValueError

    monkeypatch.setattr(openid, "fetch_json", read)
    waiting = threading.Thread(target=tokens.name, args=("a.b.c",))
    waiting.start()
    assert heard.wait(30)
    assert tokens.name(token) is not None
    assert tokens.name("a.b.c") is None
    assert waiting.is_alive()
    silent.set()
    waiting.join(30)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{"])
def test_a_provider_that_never_ends_is_left(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    """A provider that accepts a connection and then says nothing, or half of it, is given up."""
    monkeypatch.setattr(openid, "WAIT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        met: list[socket.socket] = []

        def serve() -> None:
            met.append(listener.accept()[0])
            met[0].sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert Tokens(Provider(issuer, AUDIENCE)).name("a.b.c") is None
        thread.join(30)
        for one in met:
            one.close()


def test_a_provider_that_drips_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that sends a byte now and then, for ever, is given up."""
    monkeypatch.setattr(openid, "WAIT_SECONDS", 0.2)
    gone = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            met, _ = listener.accept()
            with met:
                met.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                try:
                    while True:
                        met.sendall(b" ")
                        time.sleep(0.02)
                except OSError:
                    gone.set()

        thread = threading.Thread(target=drip)
        thread.start()
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert Tokens(Provider(issuer, AUDIENCE)).name("a.b.c") is None
        wait_for(gone.is_set)
        thread.join(30)


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "crit", "b64", "typ", "jwk", "x5c", "enc", "zip"]),
    JSONS | st.sampled_from(["RS256", "none", "HS256", "EdDSA", "first", ["b64"]]),
)


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    """What reads tokens of a provider, with its keys at hand."""
    signer = Signer()
    found = Tokens(Provider(signer.issuer, AUDIENCE))
    assert found.name(signer.token()) is not None
    yield found
    signer.close()


@pytest.mark.filterwarnings("ignore:EdDSA")
@given(header=JSONS | HEADERS, claims=JSONS, signature=st.binary(max_size=300))
def test_no_token_is_a_mistake(tokens: Tokens, header: Any, claims: Any, signature: bytes) -> None:
    """Whatever is in the three parts of a token that is not the provider's, it is nobody's."""
    made = unsigned(header, claims) + base64.urlsafe_b64encode(signature).rstrip(b"=").decode()
    assert tokens.name(made) is None


@pytest.mark.slow
@given(st.text(max_size=60).map(lambda text: f"{text}.x.y") | st.just("[" * 5000 + "..") | st.just("W1" * 4000 + ".."))
def test_no_text_is_a_mistake(tokens: Tokens, text: str) -> None:
    """Whatever text is shown as a token, it is nobody's."""
    assert tokens.name(text) is None
