"""Where a contract points to: whatever a text says, it is read with the places of another contract, and no others."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.query.contract.budget import BUDGET_KEYS
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.over_limit import KEYS as OVER_LIMIT_KEYS
from inbounds.query.contract.places import (
    ALWAYS,
    FILES,
    find_other_places,
    has_password,
    hide_password,
    keep_places,
    places_of,
    write_without_passwords,
)
from inbounds.query.contract.toml_text import write_toml
from inbounds.query.tables.contract_columns import COLUMN_KEYS
from inbounds.query.tables.contract_tables import DATASET_KEYS, OTHER_KEYS
from inbounds.query.tables.public_source import PUBLIC_KEYS

PRESENT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
[columns.finding]
keys = "findings.csv"
[columns.district]
keys = ["harbour"]
within = "finding"
map = "districts.csv"
[tables.drugs]
source = "postgresql://clinic:secret@db.example/clinic?sslkey=also"
table = "drugs"
[tables.wards]
source = "wards.csv"
public = true
[budget]
total = 5
ledger = "budget.db"
"""

NO_PLACES = {
    "delimiter", "decimal", "thousands", "date_format", "encoding", "unit", "key", "whole", "belongs_to", "on",
    "max_rows_per_unit", "units", "tick", "today", "practice", "description", "bounds", "keys_column", "keys_of",
    "text", "from", "weekdays", "closed", "within", "timezone", "duration", "total", "per_analyst", "delta",
    "delta_reserved", "limit", "rows", "most_per_unit", "max_epsilon_per_question", "refresh", "lifetime",
}  # fmt: skip
"""Keys of which it is known that nothing is opened because of what they say."""

ODD: tuple[Any, ...] = (
    "/etc/passwd",
    "../../secret.csv",
    "postgresql://u:p@evil.example/db",
    "s3://evil/x.parquet",
    "",
    7,
    True,
    [],
    {},
)


def read(text: str) -> Contract:
    """Return the contract of a text."""
    return Contract.parse(text, name="visits.toml", folder=Path("/nowhere"))


def test_every_key_is_known_to_be_a_place_or_none() -> None:
    """A key that a contract may have is one of those that keep their places, or stands in the list of harmless ones."""
    keys = {*DATASET_KEYS, *OTHER_KEYS, *PUBLIC_KEYS, *COLUMN_KEYS, *BUDGET_KEYS, *OVER_LIMIT_KEYS}
    assert keys == {*ALWAYS, *FILES, "name", *NO_PLACES}


def other_texts(seed: int) -> dict[str, Any]:
    """Return what a text may say: the present contract with anything in any of its places, and with more of them."""
    random = Random(seed)
    content: dict[str, Any] = dict(read(PRESENT).content)

    def change(table: dict[str, Any]) -> dict[str, Any]:
        changed = {key: change(value) if isinstance(value, dict) else value for key, value in table.items()}
        for key in (*ALWAYS, *FILES, "name", "dataset", "other"):
            if random.random() < 0.15:
                changed[key] = random.choice([*ODD, {"source": "/etc/passwd"}, {"dataset": {"source": "/etc/passwd"}}])
        for key in list(changed):
            if random.random() < 0.05:
                del changed[key]
        return changed

    return change(content)


SEEDS = range(300)


def test_whatever_a_text_says_it_is_read_with_the_places_of_the_other() -> None:
    """Of a text that names any places anywhere, none is left but those of the present contract, where they stand."""
    present = read(PRESENT)
    known = places_of(present.content)
    for seed in SEEDS:
        kept = keep_places(read(write_toml(other_texts(seed))), present)
        assert places_of(kept.content).items() <= known.items(), seed


def test_nothing_is_put_back_in_silence() -> None:
    """A text of which no place is refused is read as it is; and some texts are refused, and some are not."""
    present = read(PRESENT)
    refused = 0
    for seed in SEEDS:
        tried = read(write_toml(other_texts(seed)))
        found = list(find_other_places(tried, present))
        refused += bool(found)
        if not found:
            assert keep_places(tried, present).content == tried.content
    assert 0 < refused < len(SEEDS)


def test_the_same_places_are_kept_without_a_word() -> None:
    """The contract itself, also without its password and without a table, a column or a file, is not refused."""
    present = read(PRESENT)
    for text in (
        PRESENT,
        PRESENT.replace(":secret@", "@"),
        PRESENT.replace(":secret@", ":another@"),
        PRESENT.replace('keys = "findings.csv"', 'keys = ["rare"]'),
        PRESENT.replace('[tables.wards]\nsource = "wards.csv"\npublic = true\n', ""),
    ):
        tried = read(text)
        assert list(find_other_places(tried, present)) == []
        kept = places_of(keep_places(tried, present).content)
        assert kept["tables", "drugs", "source"] == present.content["tables"]["drugs"]["source"]


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("visits.parquet", "../cradle.parquet", 4, "source must be that of the served contract"),
        ('name = "visits"', 'name = "births"', 3, "name must be"),
        ('source = "visits.parquet"\n', "", 2, "source must be that of the served contract, and is missing"),
        ('"findings.csv"', '"/etc/passwd"', 7, "keys must be"),
        ('keys = ["harbour"]', 'keys = "/etc/passwd"', 9, "keys may not name"),
        ('"districts.csv"', '"//evil.example/districts.csv"', 11, "map must be"),
        ("clinic:secret@db.example", "clinic:secret@evil.example", 13, "source must be"),
        ('table = "drugs"', 'table = "patients"', 14, "table must be"),
        ("public = true", "public = false", 17, "public must be"),
        ('table = "drugs"', 'table = "drugs"\npublic = true', 15, "public may not name"),
        ('ledger = "budget.db"', 'ledger = "other.db"', 20, "ledger must be"),
        ("[budget]", '[tables.other]\nsource = "x.csv"\n[budget]', 18, "only tables of the served contract"),
        ("[tables.wards]", '[tables.drugs.dataset]\nsource = "x.csv"\n[tables.wards]', 16, "source may not name"),
    ],
)
def test_another_place_is_told_with_its_line_and_what_to_write(old: str, new: str, line: int, why: str) -> None:
    """Each refusal names the line, the rule and a remedy; and what it says to write is accepted."""
    assert old in PRESENT
    text = PRESENT.replace(old, new)
    (fault,) = find_other_places(read(text), read(PRESENT))
    assert str(fault).startswith(f"visits.toml, line {line}: {why}")
    assert "run inbounds check" in str(fault)
    assert "secret" not in str(fault)
    if "; write " in str(fault):
        stated = str(fault).split("; write ")[1].split(", or change")[0]
        lines = text.split("\n")
        if "is missing" in str(fault):
            lines.insert(line, stated)
        else:
            lines[line - 1] = stated
        assert list(find_other_places(read("\n".join(lines)), read(PRESENT))) == []


@pytest.mark.parametrize(
    ("place", "public"),
    [
        ("visits.parquet", "visits.parquet"),
        ("C:/Users/a@b/visits.csv", "C:/Users/a@b/visits.csv"),
        ("postgresql://ana@db/clinic", "postgresql://ana@db/clinic"),
        ("postgresql://ana:p@db/clinic", "postgresql://ana@db/clinic"),
        ("postgresql://ana:p@ss:w/rd@db/clinic", "postgresql://ana@db/clinic"),
        ("postgresql://:p@db/clinic", "postgresql://@db/clinic"),
        ("postgresql://ana:p\"'\n@db/clinic", "postgresql://ana@db/clinic"),
        ("postgresql://db/clinic?user=ana&password=p&x=1", "postgresql://db/clinic?user=ana&password=&x=1"),
        ("https://host/a.parquet?X-Amz-Signature=abc&t=1", "https://host/a.parquet?X-Amz-Signature=&t=1"),
        ("clickhouse://default:p@db:8123/clinic", "clickhouse://default@db:8123/clinic"),
    ],
)
def test_a_place_is_shown_without_its_password(place: str, public: str) -> None:
    """Of an address everything but its passwords is shown, and no more goes if that is done again."""
    assert hide_password(place) == public
    assert hide_password(public) == public


@pytest.mark.parametrize(
    "source",
    [
        '"postgresql://ana:hunter2@db/clinic"',
        "'postgresql://ana:hunter2@db/clinic'",
        '"postgresql://ana:hunter2@db/clinic?password=hunter2"  # or postgresql://ana:hunter2@old/clinic',
        '"postgresql://ana:h\\u0075nter2@db/clinic"',
        '"""\npostgresql://ana:hunter2@db/clinic"""',
        '"postgresql://ana:hun\\"ter2@db/clinic"',
    ],
)
def test_no_password_is_in_a_text_for_a_browser(source: str) -> None:
    """However a password is written, the text that is shown has none, says the same else, and loads again."""
    contract = read(PRESENT.replace('"visits.parquet"', source, 1))
    text = write_without_passwords(contract)
    assert has_password(contract)
    assert not any(secret in text for secret in ("hunter2", "nter2", "hun\\", ":secret"))
    again = read(text)
    assert not has_password(again)
    assert list(find_other_places(again, contract)) == []
    assert keep_places(again, contract).content == contract.content


def test_a_text_without_a_password_is_shown_as_it_is() -> None:
    """Comments, order and blanks stay, and so does what only looks like an address with a password elsewhere."""
    text = PRESENT.replace(":secret@", "@").replace("?sslkey=also", "").replace("[budget]", "[budget]  # of  everybody")
    text = text.replace('keys = ["harbour"]', 'keys = ["mailto://a:b@c"]')
    assert write_without_passwords(read(text)) == text
    assert not has_password(read(text))
