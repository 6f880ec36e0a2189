"""The text of a contract is changed in one place, or not at all."""

from __future__ import annotations

import tomllib

import pytest

from inbounds.errors import InvalidContract
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.contract_change import apart_from, header_of, write_number, write_section

TEXT = """\
# about [dataset]
note = '''
[dataset]
max_rows_per_unit = 9
'''
[tables.x]
max_rows_per_unit = 1
[ dataset ]  # the table
name = "a"
unit = "b" # whose
source = "c"
[tables.x.columns.y]
keys = [1]
"""
PATH = ("dataset", "max_rows_per_unit")


def test_a_number_is_written_where_it_belongs() -> None:
    """Text within text is not taken for a section where that would say something else: then the change is refused."""
    with pytest.raises(InvalidContract, match="cannot write max_rows_per_unit"):
        write_number(TEXT, 4, *PATH)
    plain = TEXT.replace("[dataset]\nmax_rows_per_unit = 9", "other")
    changed = write_number(plain, 4, *PATH, remarks=("# discovered for nothing",))
    assert changed == plain.replace("# whose\n", "# whose\n# discovered for nothing\nmax_rows_per_unit = 4\n")
    again = write_number(changed, 5, *PATH, remarks=("# discovered for more",))
    assert again == plain.replace("# whose\n", "# whose\n# discovered for more\nmax_rows_per_unit = 5\n")
    other = write_number(plain, 7, "tables", "x", "max_rows_per_unit")
    assert other == plain.replace("max_rows_per_unit = 1", "max_rows_per_unit = 7")


@pytest.mark.parametrize("text", ['dataset = { name = "a" }', 'dataset.name = "a"'], ids=["inline", "dotted"])
def test_what_has_no_section_is_refused(text: str) -> None:
    """A contract that is written in another way is not changed, and the custodian is told how to write it."""
    with pytest.raises(InvalidContract, match="section with a line for each key"):
        write_number(text, 4, *PATH)


def test_a_section_is_written_once() -> None:
    """A new section stands at the end; one that is there stays as it is."""
    path = ("columns", 'a "b".c')
    section = f"\n{header_of(*path)}\nbounds = '[0, 1]'\n"
    written = write_section("x = 1", section, "[0, 1]", *path, "bounds")
    assert tomllib.loads(written) == {"x": 1, "columns": {'a "b".c': {"bounds": "[0, 1]"}}}
    assert write_section(written, section, "[0, 2]", *path, "bounds") == written
    with pytest.raises(InvalidContract, match="cannot write bounds"):
        write_section("columns = {}", section, "[0, 1]", *path, "bounds")


def test_what_is_asked_apart_from_a_key_does_not_depend_on_it() -> None:
    """Two contracts that differ in the key, or in comments, are one; any other difference tells them apart."""
    texts = ["[dataset]\na = 1\nb = 2", "[dataset]\na = 1\nb = 3", "# x\n[dataset]\na = 1", "[dataset]\na = 2"]
    found = [apart_from(Contract.parse(text), "dataset", "b", asked=("q",)).text for text in texts]
    assert found[0] == found[1] == found[2] != found[3]
    assert apart_from(Contract.parse(texts[0]), "dataset", "b", asked=("r",)).text != found[0]
