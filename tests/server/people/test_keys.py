"""Keys: 256 random bits, shown once, of which the server keeps nothing that opens anything."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from inbounds.errors import InvalidParameter
from inbounds.server.basics import clock
from inbounds.server.basics.secret import digest_of
from inbounds.server.people.key import mint, prefix_of
from inbounds.server.people.key_ring import MOST_DAYS, KeyRing
from inbounds.server.state.database import Database
from tests.cli.conftest import Type, typed
from tests.helpers.scripted_entropy import Script
from tests.helpers.served_hospital import Served, bearer, running

__all__ = ["typed"]


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    """An empty ring."""
    return KeyRing(Database(tmp_path / "server.db"))


def test_a_key_has_256_random_bits_that_are_secret() -> None:
    """32 bytes of entropy are in a key beside its prefix, and no two keys are alike."""
    entropy = Script()
    key = mint(entropy)
    assert entropy.asked == [32, 6]
    assert re.fullmatch(r"inb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", key)
    assert prefix_of(key) == key[4:16]
    assert len({mint() for _ in range(1000)}) == 1000


@pytest.mark.parametrize("change", [0, 4, 20, 40, -1])
def test_a_key_of_which_one_letter_is_wrong_is_nobodys(ring: KeyRing, change: int) -> None:
    """Only the whole key tells who holds it."""
    key, _ = ring.issue("ana")
    assert ring.holder(key) == "ana"
    at = change % len(key)
    assert ring.holder(key[:at] + ("b" if key[at] == "a" else "a") + key[at + 1 :]) is None


def test_a_prefix_opens_nothing(ring: KeyRing) -> None:
    """What lists show of a key, alone or with another secret, what is stored of it, and no key at all are nobody's."""
    key, kept = ring.issue("ana")
    other, _ = ring.issue("ben")
    assert ring.holder(f"inb_{kept.prefix}_{other[17:]}") is None
    for text in (
        "",
        kept.prefix,
        f"inb_{kept.prefix}",
        f"inb_{kept.prefix}_",
        kept.digest,
        key + "\n",
        f" {key}",
        "\x00",
    ):
        assert ring.holder(text) is None


def test_an_expired_key_is_nobodys(ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key opens until its last second, and not in it."""
    key, kept = ring.issue("ana", 1)
    assert kept.expires - kept.issued == timedelta(days=1)
    monkeypatch.setattr(clock, "now", lambda: kept.expires - timedelta(seconds=1))
    assert ring.holder(key) == "ana"
    monkeypatch.setattr(clock, "now", lambda: kept.expires)
    assert ring.holder(key) is None
    assert ring.issued()[0].state(clock.now()) == "expired"


def test_a_revoked_key_is_nobodys_for_ever(ring: KeyRing) -> None:
    """Revoking a key leaves others as they are, and doing it again changes nothing; of no key there is nothing."""
    key, kept = ring.issue("ana")
    other, _ = ring.issue("ana")
    first = ring.revoke(kept.prefix)
    assert first is not None
    assert first.revoked is not None
    assert ring.revoke(kept.prefix) == first
    assert [ring.holder(one) for one in (key, other)] == [None, "ana"]
    assert ring.revoke("0" * 12) is None


@pytest.mark.parametrize("days", [0, -1, MOST_DAYS + 1, True, 1.5])
def test_a_key_is_valid_for_some_days(ring: KeyRing, days: int) -> None:
    """A time that is none, or for ever, is refused."""
    with pytest.raises(InvalidParameter, match="an API key is valid for 1 to"):
        ring.issue("ana", days)
    assert ring.issued() == []


def test_nothing_of_a_key_is_in_the_file(ring: KeyRing, tmp_path: Path) -> None:
    """The bytes of the server's files hold the digest, and neither the key nor any part of its secret."""
    key, kept = ring.issue("ana")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert kept.digest.encode() in stored
    assert kept.digest == digest_of(key)
    secret = key[17:]
    assert not any(secret[at : at + 8].encode() in stored for at in range(len(secret) - 7))


def test_the_file_is_its_owners(ring: KeyRing, tmp_path: Path) -> None:
    """Nobody else on the machine can read or change who may ask."""
    assert ring.issued() == []
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """What is no file of a server is refused, and stays as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n" * 100, encoding="utf-8")
    with pytest.raises(InvalidParameter, match="cannot be opened"):
        Database(path)
    assert path.read_text("utf-8").startswith("remember the milk")


def test_somebody_who_is_no_longer_named_is_nobody(served: Served) -> None:
    """A key of a person whom the custodian's file does not name opens nothing."""
    key, _ = served.ring.issue("fay")
    assert served.bearing(key).get("/v1/me").status_code == 401


def test_a_key_is_shown_once_over_the_network(served: Served) -> None:
    """Whoever issues a key sees it in that response, works with it, and finds it in no list."""
    carla = served.person("carla")
    made = carla.post("/v1/keys", json={"person": "ana", "days": 3})
    assert made.status_code == 201
    key = made.json()["key"]
    assert served.bearing(key).get("/v1/me").json()["name"] == "ana"
    told = carla.get("/v1/keys")
    assert key[17:] not in told.text
    assert made.json()["prefix"] in {one["prefix"] for one in told.json()}
    assert carla.delete(f"/v1/keys/{made.json()['prefix']}").json()["state"] == "revoked"
    assert served.bearing(key).get("/v1/me").status_code == 401
    assert carla.post("/v1/keys", json={"person": "fay"}).json()["code"] == "invalid-parameter"
    assert carla.delete("/v1/keys/000000000000").json()["code"] == "not-found"


@pytest.mark.parametrize("wrong", ["ana", "00000000000", "0000000000000", "00000000000A", "inb_000000000000", "a key"])
def test_a_prefix_is_explained_in_words(served: Served, wrong: str) -> None:
    """A malformed prefix is refused in words that do not repeat it, and the list that they name has the right one."""
    carla = served.person("carla")
    sent = served.keys["ana"] if wrong == "a key" else wrong
    refusal = carla.delete(f"/v1/keys/{sent}")
    assert (refusal.status_code, refusal.json()["code"]) == (400, "invalid-request")
    detail = refusal.json()["detail"]
    assert "12 characters, 0 to 9 and a to f: those after inb_; find it with GET /v1/keys" in detail
    assert "[0-9a-f]" not in detail
    assert sent not in detail
    prefix = next(key["prefix"] for key in carla.get("/v1/keys").json() if key["person"] == "ana")
    assert carla.delete(f"/v1/keys/{prefix}").json()["state"] == "revoked"


def test_a_revoked_key_is_refused_at_once(served: Served) -> None:
    """A server that has just let somebody in refuses the next request after the key was revoked elsewhere."""
    ana = served.person("ana")
    assert ana.get("/v1/me").status_code == 200
    served.ring.revoke(served.keys["ana"][4:16])
    refused = ana.get("/v1/me")
    assert (refused.status_code, refused.json()["code"]) == (401, "not-authenticated")
    assert refused.headers["www-authenticate"] == 'Bearer realm="inbounds"'


@pytest.mark.slow
def test_the_command_line_revokes_in_a_running_server(served: Served, typed: Type) -> None:
    """Another process revokes a key, and each worker of the server refuses it from then on."""
    text = served.path.read_text("utf-8").replace("workers = 1", "workers = 2")
    served.path.write_text(text, encoding="utf-8")
    where = ("--custodian", str(served.path))
    with running(served) as server:
        key = typed("keys", "issue", "ben", *where, "--json").data["key"]
        with server.client(key) as client:
            assert client.get("/v1/me").json()["name"] == "ben"
            assert typed("keys", "revoke", key[4:16], *where).code == 0
            found = []
            for _ in range(8):  # of new connections, so that both workers are asked
                with server.client(key) as other:
                    found.append(other.get("/v1/me").status_code)
            assert [*found, client.get("/v1/me").status_code] == [401] * 9


def test_the_command_line_issues_lists_and_revokes(served: Served, typed: Type) -> None:
    """A key is shown when it is issued, works, is listed without itself, and is revoked by its prefix."""
    where = ("--custodian", str(served.path))
    issued = typed("keys", "issue", "ana", *where, "--days", "7")
    key = re.findall(r"inb_\w{12}_[\w-]{43}", issued.out)[0]
    assert issued.code == 0
    assert "shown only once" in issued.out
    assert served.bearing(key).get("/v1/me").json()["name"] == "ana"
    listed = typed("keys", "list", *where)
    assert key[4:16] in listed.out
    assert key[17:] not in listed.out
    row = {"prefix": key[4:16], "person": "ana", "state": "valid"}
    assert any(row.items() <= one.items() for one in typed("keys", "list", *where, "--json").data)
    assert typed("keys", "revoke", key[4:16], *where, "--json").data["state"] == "revoked"
    assert served.nobody.get("/v1/me", headers=bearer(key)).status_code == 401


def test_looking_for_keys_makes_no_file(served: Served, typed: Type) -> None:
    """Where none was issued, none are listed and none can be revoked, and nothing is written."""
    other = served.path.with_name("other.toml")
    other.write_text(served.path.read_text(encoding="utf-8"), encoding="utf-8")
    assert "no API key has been issued yet" in typed("keys", "list", "--custodian", str(other)).out
    assert "no API key with the prefix" in typed("keys", "revoke", "000000000000", "--custodian", str(other)).err
    assert list(served.path.parent.glob("other*")) == [other]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("issue", "fay"), "got 'fay'; it names 'ana'"),
        (("issue", "ana", "--days", "0"), "1 to 3660 days"),
        (("revoke", "000000000000"), "no API key with the prefix"),
        (("revoke", "' OR 1=1 --"), "no API key with the prefix"),
    ],
)
def test_the_command_line_refuses_what_is_wrong(served: Served, typed: Type, words: tuple[str, ...], said: str) -> None:
    """A person whom nobody named, a time that is none and a key that is not there are told, and change nothing."""
    where = ("--custodian", str(served.path))
    before = json.loads(typed("keys", "list", *where, "--json").out)
    refused = typed("keys", *words, *where)
    assert refused.code != 0
    assert said in refused.err
    assert json.loads(typed("keys", "list", *where, "--json").out) == before
