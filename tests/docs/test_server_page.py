"""The page about the server says what the server does: its tables are those of the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.clinic.clinic import build
from inbounds.server.basics.limits import ServerLimits
from inbounds.server.basics.person import Action, Role
from inbounds.server.basics.problem import KINDS
from inbounds.server.people.key_ring import DAYS, MOST_DAYS
from inbounds.server.run.app import application
from inbounds.server.run.connection import HEADER_SECONDS
from inbounds.server.run.process import check
from inbounds.server.run.request_head import LONGEST_FIELDS, LONGEST_LINE
from inbounds.server.service.answer_list import TOKEN
from inbounds.server.service.service import Service
from inbounds.server.state import custodian_file
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.open_datasets import LONGEST_TICK, TICK
from tests.docs.test_docs import write_files
from tests.helpers.programs import ROOT

PAGE = (ROOT / "docs" / "server.md").read_text("utf-8")


def rows(header: str) -> list[list[str]]:
    """Return the cells of the table that has this header."""
    table = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [line.strip("| ").split(" | ") for line in table]


@pytest.fixture
def file(tmp_path: Path) -> CustodianFile:
    """The file that the page shows, beside the clinic of the demonstration."""
    build(tmp_path)
    write_files(PAGE, tmp_path)
    return CustodianFile.load(tmp_path / "custodian.toml")


def test_the_table_of_refusals_is_that_of_the_server() -> None:
    """The page lists every code, each with its status, and no other, in the order of statuses."""
    listed = [(code.strip("`"), int(status)) for code, status, _ in rows("| code | status |")]
    assert sorted(listed) == sorted((code, kind.status) for code, kind in KINDS.items())
    assert [status for _, status in listed] == sorted(status for _, status in listed)


def test_the_table_of_roles_is_that_of_the_server() -> None:
    """The page says of every action which roles may do it, and of no other."""
    header, *roles = PAGE[PAGE.index("| action |") :].splitlines()[0].strip("| ").split(" | ")
    assert (header, roles) == ("action", [role.value for role in Role])
    meant = [[one.words, *("yes" if role in one.roles else "no" for role in Role)] for one in Action]
    assert rows("| action |") == meant


def test_the_table_of_keys_is_that_of_the_file() -> None:
    """The page lists every key of the custodian's file, and the default of each limit."""
    listed = {key.strip("`"): default for keys, default, _ in rows("| key | default |") for key in keys.split(", ")}
    sections = {
        "server": custodian_file.SERVER_KEYS,
        "people.NAME": custodian_file.PERSON_KEYS,
        "tls": [one.name for one in fields(custodian_file.Tls)],
        "proxy": [one.name for one in fields(custodian_file.Proxy)],
        "identity": [one.name for one in fields(custodian_file.Provider)],
        "limits": [one.name for one in fields(ServerLimits)],
    }
    assert {name.split(".")[0] for name in sections} == set(custodian_file.SECTIONS)
    assert set(listed) == {f"{section}.{key}" for section, keys in sections.items() for key in keys}
    assert {f"limits.{one.name}": str(one.default) for one in fields(ServerLimits)}.items() <= listed.items()
    assert listed["server.listen"] == f"`{custodian_file.LISTEN}`"
    assert listed["identity.claim"] == f"`{custodian_file.Provider('', '').claim}`"


def test_the_numbers_of_the_page_are_those_of_the_server() -> None:
    """What the page says of ticks, keys, headers and names is what holds."""
    words = " ".join(PAGE.split())
    assert f"The default is {TICK:.0f}; it must be above 0 and at most {LONGEST_TICK}" in words
    assert f"{DAYS} days by default, at most {MOST_DAYS}" in words
    assert f"its headers have {HEADER_SECONDS} seconds of their own" in words
    assert f"at most {custodian_file.LONGEST_PERSON} characters" in words
    assert f"the first line may have {LONGEST_LINE:,} bytes, all headers together {LONGEST_FIELDS:,}" in words
    assert f"1 to {re.findall(r',([0-9]+)}', TOKEN)[0]} letters" in words


def test_the_file_of_the_page_can_be_served(file: CustodianFile) -> None:
    """The custodian's file on the page is one: with the clinic beside it, everything in it opens."""
    assert {one.role for one in file.people.values()} == set(Role)
    check(file, new_ledger=True)


def test_the_table_of_addresses_is_that_of_the_interface(file: CustodianFile) -> None:
    """The page lists every address of the interface, and no other."""
    service = Service.open(file)
    try:
        document: dict[str, Any] = application(service).openapi()
    finally:
        service.close()
    there = {f"{method.upper()} {path}" for path, ways in document["paths"].items() for method in ways}
    listed = [address.strip("`") for address, *_ in rows("| address | who |")]
    assert sorted(listed) == sorted({*there, "GET /v1/openapi.json"})
