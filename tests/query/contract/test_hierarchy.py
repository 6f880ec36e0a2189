"""Columns within columns: what the map says holds, and a map that says something else is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from inbounds.query.columns.column import Keys
from inbounds.query.contract.hierarchy import ancestors

HEAD = '[dataset]\nname = "visits"\nunit = "row"\n[budget]\ntotal = 10\n'
REGION = '[columns.region]\nkeys = ["city", "land"]\n'
DISTRICT = '[columns.district]\nkeys = ["hills", "harbour"]\n'
MAP = 'map = { hills = "land", harbour = "city" }\n'


def keys(dataset: Dataset, name: str) -> Keys:
    """Return a column of keys."""
    column = dataset.table.columns[name]
    assert isinstance(column, Keys)
    return column


def test_a_map_tells_the_parent_of_each_key() -> None:
    """Parents are told by their place in the list of keys, also over several levels and for keys of every kind."""
    text = f"""{HEAD}{REGION}{DISTRICT}within = "region"\n{MAP}
[columns.block]
keys = [7, 8, 9]
within = "district"
map = {{ 7 = "harbour", 8 = "hills", 9 = "harbour" }}
[columns.lit]
keys = [true, false]
within = "block"
map = {{ true = 7, false = "8" }}
"""
    with pytest.raises(InvalidContract, match="no key of 'lit' lies within 9"):
        Dataset.parse(text)
    dataset = Dataset.parse(text.replace("keys = [7, 8, 9]", "keys = [7, 8]").replace(', 9 = "harbour"', ""))
    assert keys(dataset, "district").parents == (1, 0)
    assert ancestors(dataset.table.columns, keys(dataset, "lit")) == [
        ("block", (0, 1)), ("district", (1, 0)), ("region", (0, 1)),
    ]  # fmt: skip


def test_a_map_may_be_a_file(tmp_path: Path) -> None:
    """A csv file beside the contract says the same, in either order of columns, with a byte order mark or not."""
    (tmp_path / "visits.toml").write_text(f'{HEAD}{REGION}{DISTRICT}within = "region"\nmap = "map.csv"\n', "utf-8")
    for content in (
        "district,region\nhills,land\nharbour,city\n",
        "\ufeffregion,district\ncity,harbour\n\nland,hills\n",
    ):
        (tmp_path / "map.csv").write_text(content, "utf-8")
        dataset = Dataset.load(tmp_path / "visits.toml")
        assert keys(dataset, "district").parents == (1, 0)


def test_another_map_is_another_contract(tmp_path: Path) -> None:
    """Where a map in a file changes, what the contract is known by changes, and so do the terms in the ledger."""
    (tmp_path / "visits.toml").write_text(f'{HEAD}{REGION}{DISTRICT}within = "region"\nmap = "map.csv"\n', "utf-8")
    found = []
    for parents in ("land\nharbour,city", "city\nharbour,land"):
        (tmp_path / "map.csv").write_text(f"district,region\nhills,{parents}\n", "utf-8")
        dataset = Dataset.load(tmp_path / "visits.toml")
        found.append((dataset.identity, dataset.terms))
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]


BAD = [
    ('within = "nation"\n' + MAP, 11, "within must name another column with keys, got 'nation'"),
    ('within = "district"\n' + MAP, 11, "within must name another column with keys"),
    ('within = "size"\n' + MAP, 11, "within must name another column with keys, got 'size'"),
    ('within = "region"\n', 9, "map is missing"),
    (MAP, 9, "within is missing"),
    ('within = "region"\nmap = { hills = "land", harbour = "sea" }\n', 12, "'sea', which is not a key of 'region'"),
    ('within = "region"\nmap = { hills = "land", harbour = ["city"] }\n', 12, "is not a key of 'region'"),
    ('within = "region"\nmap = { hills = "land", harbour = true }\n', 12, "is not a key of 'region'"),
    ('within = "region"\nmap = { hills = "land" }\n', 12, "'harbour' is missing"),
    ('within = "region"\nmap = { hills = "land", harbour = "city", moor = "land" }\n', 12, "'moor' is not one of them"),
    ('within = "region"\nmap = { hills = "land", harbour = "land" }\n', 12, "no key of 'district' lies within 'city'"),
    ('within = "region"\nmap = "nowhere.csv"\n', 12, "cannot read the map 'nowhere.csv'; give the path"),
    ('within = "region"\nmap = "."\n', 12, "cannot read the map"),
    ('within = "region"\nmap = "a\\u0000b"\n', 12, "cannot read the map"),
    ('within = "region"\nmap = 5\n', 12, "map must be a table of keys, or the path of a csv file, got 5"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "line", "told"), BAD)
def test_a_map_that_is_wrong_is_refused_with_its_line(said: str, line: int, told: str) -> None:
    """The line of the contract, what is wrong with it, and what to do."""
    text = f'{HEAD}[columns.size]\nbounds = "[0, 9] step 1"\n{DISTRICT}{said}{REGION}'
    with pytest.raises(InvalidContract) as refusal:
        Dataset.parse(text)
    assert told in str(refusal.value)
    assert "; " in str(refusal.value)
    if "is missing in" not in str(refusal.value):
        assert f"line {line - 1}: " in str(refusal.value) or f"line {line}: " in str(refusal.value)


@pytest.mark.parametrize(
    "content",
    [
        "", "district\nhills\n", "district,region,more\nhills,land,1\n", "a,b\nhills,land\n",
        "district,region\nhills,land\nhills,city\nharbour,city\n", "district,region\nhills,land\nharbour\n",
        "district,region\nhills,land\n", b"district,region\n\xff,land\n",
    ],
)  # fmt: skip
def test_a_file_that_is_no_map_is_refused(tmp_path: Path, content: str | bytes) -> None:
    """A file without the header, with a key twice or missing, with other rows or no text, is named."""
    (tmp_path / "map.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    (tmp_path / "visits.toml").write_text(f'{HEAD}{REGION}{DISTRICT}within = "region"\nmap = "map.csv"\n', "utf-8")
    with pytest.raises(InvalidContract, match=r"visits.toml, line 11: .*map"):
        Dataset.load(tmp_path / "visits.toml")


def test_a_circle_is_refused() -> None:
    """Columns that lie within each other are told in a row."""
    text = f"""{HEAD}[columns.a]\nkeys = ["x"]\nwithin = "b"\nmap = {{ x = "y" }}
[columns.b]\nkeys = ["y"]\nwithin = "a"\nmap = {{ y = "x" }}\n"""
    with pytest.raises(InvalidContract, match="line 8: within must not go in a circle, got a within b within a; leave"):
        Dataset.parse(text)


def test_numbers_have_no_parents() -> None:
    """A column with bounds cannot lie within another."""
    text = f'{HEAD}{REGION}[columns.size]\nbounds = "[0, 9] step 1"\nwithin = "region"\n'
    with pytest.raises(InvalidContract, match="line 8: within and map need keys, but 'size' has bounds"):
        Dataset.parse(text)
