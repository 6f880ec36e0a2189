"""The custodian's file is read strictly, and every complaint names the line to mend."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.server.basics.limits import ServerLimits
from inbounds.server.basics.person import Role
from inbounds.server.run.process import RESERVE, WORKERS_PER_PROCESSOR, check
from inbounds.server.state.custodian_file import CustodianFile, Provider, Proxy
from tests.helpers.served_hospital import BIRTHS, VISITS, Served

GOOD = """\
[server]
contracts = ["visits.toml"]
ledger = "budget.db"
listen = "127.0.0.1:8750"
workers = 2

[people.ana]
role = "analyst"
datasets = ["visits"]

[people.carla]
role = "custodian"

[limits]
statements = 3
"""

TLS = '[tls]\ncertificate = "cert.pem"\nkey = "key.pem"\n'
PROXY = '[proxy]\naddresses = ["10.0.0.7", "10.1.0.0/16"]\nheader = "X-Remote-User"\n'
IDENTITY = '[identity]\nissuer = "https://id.example"\naudience = "inbounds"\n'


def load(folder: Path, text: str) -> CustodianFile:
    """Read the file."""
    path = folder / "custodian.toml"
    path.write_text(text, encoding="utf-8")
    return CustodianFile.load(path)


def test_a_good_file_says_everything(tmp_path: Path) -> None:
    """Paths are beside the file, people have their roles, and what is not said has its usual value."""
    found = load(tmp_path, GOOD)
    assert found.contracts == (tmp_path / "visits.toml",)
    assert (found.ledger, found.state) == (str(tmp_path / "budget.db"), tmp_path / "custodian.server.db")
    assert (found.host, found.port, found.workers, found.url) == ("127.0.0.1", 8750, 2, "http://127.0.0.1:8750")
    assert {name: one.role for name, one in found.people.items()} == {"ana": Role.ANALYST, "carla": Role.CUSTODIAN}
    assert found.people["ana"].datasets == ("visits",)
    assert found.limits == ServerLimits(statements=3)
    assert found.is_local


def test_a_ledger_may_be_an_address(tmp_path: Path) -> None:
    """An address of PostgreSQL is no path, and is left as it is."""
    found = load(tmp_path, GOOD.replace('"budget.db"', '"postgresql://127.0.0.1:5432/ledger"'))
    assert found.ledger == "postgresql://127.0.0.1:5432/ledger"


def test_who_vouches_for_people_is_read(tmp_path: Path) -> None:
    """A proxy has its addresses and header, a provider its issuer, audience and claim."""
    found = load(tmp_path, GOOD + PROXY + IDENTITY)
    assert found.proxy == Proxy(("10.0.0.7", "10.1.0.0/16"), "X-Remote-User")
    assert found.provider == Provider("https://id.example", "inbounds", "email")


WRONG = {
    "no TOML": ("[server]", "[server", None, "not TOML"),
    "unknown section": ("[limits]", "[limit]", 14, "unknown key 'limit'"),
    "unknown key": ("workers = 2", "worker = 2", 5, "unknown key 'worker'"),
    "unknown key of a person": ('datasets = ["visits"]', 'dataset = ["visits"]', 9, "unknown key 'dataset'"),
    "unknown limit": ("statements = 3", "statment = 3", 15, "unknown key 'statment'"),
    "no contracts": ('contracts = ["visits.toml"]\n', "", 1, "contracts is missing"),
    "empty contracts": ('["visits.toml"]', "[]", 2, "must be a list of strings"),
    "contracts that are a text": ('["visits.toml"]', '"visits.toml"', 2, "must be a list of strings"),
    "contracts that are numbers": ('["visits.toml"]', "[1]", 2, "must be a list of strings"),
    "no ledger": ('ledger = "budget.db"\n', "", 1, "ledger is missing"),
    "empty ledger": ('"budget.db"', '" "', 3, "must be a text"),
    "no port": ('"127.0.0.1:8750"', '"127.0.0.1"', 4, "an address and a port"),
    "a name for an address": ('"127.0.0.1:8750"', '"clinic.example:8750"', 4, "an address and a port"),
    "no address": ('"127.0.0.1:8750"', '":8750"', 4, "an address and a port"),
    "a port that is none": ('"127.0.0.1:8750"', '"127.0.0.1:65536"', 4, "an address and a port"),
    "a port in other digits": ('"127.0.0.1:8750"', '"127.0.0.1:٨٧"', 4, "an address and a port"),
    "no workers": ("workers = 2", "workers = 0", 5, "whole number from 1 on"),
    "workers that are a truth": ("workers = 2", "workers = true", 5, "whole number from 1 on"),
    "workers without end": ("workers = 2", "workers = 10000", 5, "workers must be at most 64, got 10000; write 1 or 2"),
    "nobody": ("people", "peopel", 7, "unknown key 'peopel'"),
    "a person that is a number": ('[people.carla]\nrole = "custodian"', "[people]\ncarla = 1", 12, "must be a table"),
    "an empty name": ("[people.carla]", '[people.""]', 11, "name of a person"),
    "a name that is too long": ("[people.carla]", f"[people.{'c' * 101}]", 11, "at most 100 characters"),
    "no role": ('role = "custodian"', "", 11, "role is missing"),
    "another role": ('"custodian"', '"owner"', 12, "one of analyst, custodian, auditor"),
    "an analyst of nothing": ('datasets = ["visits"]\n', "", 7, "datasets is missing"),
    "datasets of a custodian": (
        'role = "custodian"', 'role = "custodian"\ndatasets = ["visits"]', 13, "only analysts have datasets"
    ),
    "datasets of an auditor": ('role = "custodian"', 'role = "auditor"\ndatasets = ["visits"]', 13, "an auditor"),
    "a name with a blank": ("[people.carla]", '[people."carla "]', 11, "begin or end with a space"),
    "keys in the ledger": ('"budget.db"', '"budget.db"\nstate = "budget.db"', 1, "must be different files"),
    "a limit beyond all": ("statements = 3", f"statements = {10**30}", 15, "at most 10,000,000"),
    "a limit of nothing": ("statements = 3", "statements = 0", 15, "whole number from 1 on"),
    "a limit with a fraction": ("statements = 3", "statements = 1.5", 15, "whole number from 1 on"),
    "a certificate without a key": ("[limits]", '[tls]\ncertificate = "c"\n[limits]', 14, "key is missing"),
    "a proxy anywhere": ("[limits]", '[proxy]\nheader = "X"\n[limits]', 14, "addresses is missing"),
    "a proxy by name": ("[limits]", '[proxy]\naddresses = ["proxy.example"]\n[limits]', 15, "addresses must be"),
    "a proxy that is everybody": ("[limits]", '[proxy]\naddresses = ["0.0.0.0/0"]\n[limits]', 15, "addresses must be"),
    "a header that is none": (
        "[limits]", '[proxy]\naddresses = ["10.0.0.7"]\nheader = "X Y"\n[limits]', 16, "header must be"
    ),
    "a provider in the clear": (
        "[limits]", '[identity]\nissuer = "http://id.example"\naudience = "a"\n[limits]', 15, "https://"
    ),
    "a provider that seems local": (
        "[limits]", '[identity]\nissuer = "http://localhost.example"\naudience = "a"\n[limits]', 15, "https://"
    ),
    "a provider for anybody": ("[limits]", '[identity]\nissuer = "https://id"\n[limits]', 14, "audience is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    """Whatever is not as it should be is refused, and the complaint says where it stands and what to write."""
    old, new, line, said = WRONG[what]
    assert old in GOOD
    with pytest.raises(InvalidContract) as complaint:
        load(tmp_path, GOOD.replace(old, new))
    assert said in str(complaint.value)
    assert line is None or f"custodian.toml, line {line}:" in str(complaint.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.5", "[::]", "[fe80::1]", "[::ffff:10.0.0.5]"])
def test_nothing_is_served_in_the_clear_beyond_this_machine(tmp_path: Path, host: str) -> None:
    """An address that others reach needs a certificate, or a proxy that has one; loopback needs neither."""
    there = GOOD.replace("127.0.0.1", host)
    with pytest.raises(InvalidContract, match=r"line 4: .* must not travel in the clear"):
        load(tmp_path, there)
    assert load(tmp_path, there + TLS).url.startswith("https://")
    assert not load(tmp_path, there + PROXY).is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "[::1]", "localhost"])
def test_loopback_needs_no_certificate(tmp_path: Path, host: str) -> None:
    """What only this machine reaches is served as it is."""
    assert load(tmp_path, GOOD.replace("127.0.0.1", host)).is_local


def test_a_proxy_is_known_by_its_address_alone() -> None:
    """Addresses and networks are the proxy's; others, and what is no address, are not."""
    proxy = Proxy(("10.0.0.7", "10.1.0.0/16", "::1"))
    assert [proxy.names(one) for one in ("10.0.0.7", "10.1.200.3", "::1")] == [True] * 3
    assert [proxy.names(one) for one in ("10.0.0.8", "10.2.0.1", "", None, "proxy", "10.0.0.7 ")] == [False] * 6


def refused(served: Served, file: str, text: str) -> str:
    """Return why a server with another file is not started."""
    (served.folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidContract) as complaint:
        check(served.file)
    return str(complaint.value)


def test_a_machine_has_room_for_some_workers(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server starts with as many as the machine has room for, by its processors, and is refused with one more."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    check(replace(served.file, workers=3 * WORKERS_PER_PROCESSOR))
    with pytest.raises(InvalidParameter, match=r"workers must be at most 12 on this machine, .*, got 13; lower it in"):
        check(replace(served.file, workers=3 * WORKERS_PER_PROCESSOR + 1))


def test_a_process_has_room_for_some_connections(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many files are taken as the system gives; a server that may need more of them does not start."""
    room, had = [256, RESERVE + 100], []
    monkeypatch.setattr("resource.getrlimit", lambda _: tuple(room))
    monkeypatch.setattr("resource.setrlimit", lambda _, wanted: had.append(wanted))
    check(replace(served.file, limits=replace(served.file.limits, connections=100)))
    assert had == [(RESERVE + 100, RESERVE + 100)]
    with pytest.raises(InvalidParameter, match=rf"connections must be at most 100 .* {RESERVE + 100} .*, got 101; low"):
        check(replace(served.file, limits=replace(served.file.limits, connections=101)))
    room[1] = resource.RLIM_INFINITY
    check(served.file)
    assert had[-1] == (RESERVE + 1000, resource.RLIM_INFINITY)
    room[0] = resource.RLIM_INFINITY
    check(served.file)
    assert len(had) == 2


def test_a_dataset_that_nobody_describes_is_refused(served: Served) -> None:
    """Whoever may ask what no contract describes was meant to ask something else."""
    text = served.path.read_text("utf-8").replace('datasets = ["births"]', 'datasets = ["birth"]')
    assert "'eve' has access to 'birth', which no contract describes" in refused(served, "custodian.toml", text)


def test_a_dataset_is_not_called_as_a_page_is(served: Served) -> None:
    """The custodian's pages of keys and of requests stand beside those of datasets."""
    assert "cannot be called 'keys'" in refused(served, "births.toml", BIRTHS.replace('"births"', '"keys"'))
    for name in ("births/2026", "..", "."):
        assert "must not contain '/'" in refused(served, "births.toml", BIRTHS.replace('"births"', f'"{name}"'))


def test_two_contracts_of_one_name_are_refused(served: Served) -> None:
    """A name stands for one dataset."""
    assert "two contracts" in refused(served, "births.toml", BIRTHS.replace('"births"', '"visits"'))


def test_a_contract_with_another_ledger_is_refused(served: Served) -> None:
    """A budget is in one ledger: with two, it could be spent twice."""
    visits = VISITS.format(total=5, per_analyst=1)
    assert "line 16: this ledger is not the server's" in refused(
        served, "visits.toml", visits + 'ledger = "other.db"\n'
    )


def test_a_contract_may_name_the_servers_ledger(served: Served) -> None:
    """The same ledger under another path is the same."""
    visits = VISITS.format(total=50, per_analyst=20)
    (served.folder / "visits.toml").write_text(visits + 'ledger = "./budget.db"\n', encoding="utf-8")
    check(served.file)


@pytest.mark.parametrize("tick", ["0", "-1", "3601", "true", '"1"', "nan", "inf"])
def test_a_wrong_tick_is_refused(served: Served, tick: str) -> None:
    """Answers leave at a time that exists, and not never."""
    visits = VISITS.format(total=5, per_analyst=1).replace("tick = 0.05", f"tick = {tick}")
    assert "line 6: tick must be above 0" in refused(served, "visits.toml", visits)


@pytest.mark.parametrize("contract", ["missing.toml", "../custodian.toml"])
def test_a_contract_that_is_none_is_refused(served: Served, contract: str) -> None:
    """What cannot be opened is told before anybody listens."""
    refused(served, "custodian.toml", served.path.read_text("utf-8").replace("births.toml", contract))
