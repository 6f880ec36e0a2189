"""Csv files as people write them: decimal commas, days like 31.12.2026, thousands, and encodings other than UTF-8."""

from __future__ import annotations

import codecs
import encodings
import gzip
import os
import pkgutil
import stat
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import pytest

from inbounds.query import Dataset, Inspection, InvalidContract
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.engines.csv_lines import CsvLines, same_header
from inbounds.query.engines.utf8_copy import Utf8Copy
from tests.helpers.engine_places import distance, totals_of

CONTRACT = """
[dataset]
name = "visits"
source = "visits.csv"
FORM
unit = "who"
max_rows_per_unit = 1
[columns.cost]
bounds = "[0, 2000] step 0.5"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.clinic]
keys = ["Köln", "Łódź", "€"]
[columns.ward]
keys = [1, 2, 1500]
[budget]
total = 1
"""
PLAIN = [
    "who,cost,day,clinic,ward",
    "a,1050.5,2026-03-14,Köln,1",
    "b,-3,2026-12-31,€,2",
    "c,,,,",
    "d,7,2026-02-01,Köln,1500",
    "e,x,31,Bonn,1.5",
]
FORMS: dict[str, tuple[str, str, list[str]]] = {
    "German": (
        'delimiter = ";"\ndecimal = ","\nthousands = "."\ndate_format = "%d.%m.%Y"',
        "utf-8",
        ["who;cost;day;clinic;ward", "a;1.050,5;14.03.2026;Köln;1", "b;-3;31.12.2026;€;2", "c;;;;",
         "d;7,00;1.2.2026;Köln;1.500", "e;1.05;31;Bonn;1,5"],
    ),
    "American": (
        'thousands = ","\ndate_format = "%m/%d/%Y"',
        "utf-8",
        ["who,cost,day,clinic,ward", 'a,"1,050.50",3/14/2026,Köln,1', "b,-3,12/31/2026,€,2", "c,,,,",
         'd,7,02/01/2026,Köln,"1,500"', 'e,"10,50",31,Bonn,1.5'],
    ),
    "in an old encoding": ('encoding = "cp1252"', "cp1252", PLAIN),
    "in another old encoding": ('encoding = "iso8859_15"', "iso8859_15", PLAIN),
}  # fmt: skip


def opened(folder: Path, form: str, content: bytes, contract: str = CONTRACT) -> Dataset:
    """Return the dataset of a csv file in some form."""
    (folder / "visits.csv").write_bytes(content)
    (folder / "visits.toml").write_text(contract.replace("FORM\n", f"{form}\n" if form else ""), encoding="utf-8")
    return Dataset.load(folder / "visits.toml")


def totals(dataset: Dataset) -> list[Any]:
    """Return the totals of each column."""
    asked = (dataset.sum("cost"), dataset.mean("day"), dataset.count().by("clinic"), dataset.count().by("ward"))
    return [totals_of(one) for one in (*asked, dataset.count())]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_numbers_days_and_texts_is_what_the_contract_says(tmp_path: Path, form: str) -> None:
    """The same table in another form has the same totals, and what is not written in that form is missing."""
    (tmp_path / "plain").mkdir()
    with opened(tmp_path / "plain", "", "\n".join(PLAIN).encode()) as dataset:
        right = totals(dataset)
    said, encoding, lines = FORMS[form]
    with opened(tmp_path, said, "\n".join(lines).encode(encoding)) as dataset:
        assert totals(dataset) == right


def test_a_column_can_have_days_of_its_own_form(tmp_path: Path) -> None:
    """What a column says of its days goes before what the table says."""
    contract = CONTRACT.replace('2026-12-31]"\n', '2026-12-31]"\ndate_format = "%d %b %y"\n')
    lines = b"who,cost,day,clinic,ward\na,1,05 Mar 26,x,1\nb,1,2026-03-05,x,1\n"
    with opened(tmp_path, 'date_format = "%m/%d/%Y"', lines, contract) as dataset:
        assert totals_of(dataset.count().where("day = '2026-03-05'"))[0][0] * 2 == totals_of(dataset.count())[0][0]


@pytest.mark.parametrize(
    ("form", "good"), [("%d.%m.%Y", "31.12.2026"), ("%Y%m%d", "20261231"), ("%b %d, %Y", "Dec 31, 2026")]
)
def test_what_is_no_day_in_its_format_is_missing(tmp_path: Path, form: str, good: str) -> None:
    """Words that databases know, and years of two digits where four are meant, are not read; check counts them."""
    odd = ["infinity", "-infinity", "epoch", "31.12.26", "31.12.026", "261231", "Dec 31, 26", "x"]
    days = [good, *odd, f" {good}"]
    lines = ["who,cost,day,clinic,ward", *(f'{who},1,"{day}",x,1' for who, day in zip("abcdefghij", days, strict=True))]
    with opened(tmp_path, f'date_format = "{form}"', "\n".join(lines).encode()) as dataset:
        (day,) = (one for one in Inspection.of(dataset).numbers if one.column == "day")
        assert (day.missing, day.unread) == (len(odd), len(odd))


HOSTILE = [b"\xff\xfe\x00", b"\x81\x8d\x9d", b'"', b'"\x80;', b"9" * 400, b"1.000.000,5,5", b"99.99.9999", b"%d.%m.%Y",
           b"-", b"1e400", b"31.12.99999", b"0.0.0", b"\xe2\x80", b"\\x81"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "shift_jis"])
def test_no_field_makes_another_one_fail(tmp_path: Path, encoding: str) -> None:
    """Whatever a line holds, in whatever column, the rows of others count as they did."""
    form = FORMS["German"][0] + f'\nencoding = "{encoding}"'
    head, good = b"who;cost;day;clinic;ward\n", [b"a;1,5;31.12.2026;x;1\n", b"b;2,5;30.12.2026;y;2\n"]
    with opened(tmp_path, form, head + b"".join(good)) as dataset:
        before = totals(dataset)
    bad = [b";".join(one if place == at else b"1" for place in range(5)) + b"\n" for one in HOSTILE for at in range(5)]
    for line in (b"".join(bad[: len(bad) // 2]), b"".join(bad[len(bad) // 2 :])):
        with opened(tmp_path, form, head + good[0] + line + good[1]) as dataset:
            after = totals_of(dataset.count().by("ward"))
            ours = totals_of(dataset.count().where("day >= '2026-12-30'"))
            assert all(a >= b for (a,), (b,) in zip(after, before[3], strict=True))
            assert ours == before[4]


MISTAKES = {
    'decimal = ";"': r"line 5: decimal must be '\.' or ','",
    "decimal = 5": "decimal must be a text",
    'thousands = "x"': "line 5: thousands must be a comma",
    'thousands = "."': "decimal and thousands must differ",
    'date_format = "DD.MM.YYYY"': "date_format must have a day",
    'date_format = "%d.%m"': "date_format must have a day",
    'date_format = "%d.%m.%Y %q"': "date_format must have a day",
    'encoding = "utf-16"': "line 5: encoding must be one that keeps ASCII",
    'encoding = "nonsense"': "encoding must be one that keeps ASCII",
    'delimiter = ";;"': "line 5: delimiter must be one character",
    'decimel = ","': "unknown key 'decimel'",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_form_that_cannot_be_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    """What a contract says of the form of a file is looked at before the file is."""
    with pytest.raises(InvalidContract, match=MISTAKES[line]):
        opened(tmp_path, line, b"")


NO_BREAKS = [one for one in range(256) if one not in b"\r\n"]
LINES = [
    *(bytes(part for other in NO_BREAKS for part in (one, other)) for one in NO_BREAKS),
    *(lead + bytes([one]) for lead in (b"", b"\x81\x30\x81", b"\x8f\xa2") for one in NO_BREAKS),
    rb"\n", rb"\r", rb"\x0a", rb"\012", rb"\u000a", rb"\U0000000a", rb"\N{LINE FEED}", b"=0A", b"&#10;", b"+AAo-",
    b"xn--a", b"a..b", b"a" * 64, b"~{", b"~", b"\x1b$B", b"\x1b$B\x30", b"\x1b(J\x0e", b"\x1b$)C\x0e", b"\x1b.A\x1bN",
]  # fmt: skip
"""Lines as bytes: every pair, every lead of a character that ends too early, and what codecs that escape make of it."""

NAMES = sorted({*aliases, *aliases.values(), *(one.name for one in pkgutil.iter_modules(encodings.__path__))})
NO_CHARACTERS = {"charmap", "idna", "punycode", "raw_unicode_escape", "rot_13", "undefined", "unicode_escape", "utf_7",
                 "utf_16", "utf_32", "hz", "iso2022_jp", "iso2022_kr", "base64", "hex", "zlib", "cp037"}  # fmt: skip
USUAL = {"utf_8", "u8", "ascii", "latin_1", "windows_1252", "cp1250", "cp850", "iso8859_15", "koi8_r", "mac_roman",
         "gb18030", "gbk", "big5", "shift_jis", "cp932", "euc_jp", "euc_kr", "tis_620"}  # fmt: skip


def is_encoding(name: str) -> bool:
    """Return whether contracts may say that a file is encoded so."""
    try:
        CsvForm.of(Contract.parse(f'[dataset]\nencoding = "{name}"\n'))
    except InvalidContract as refusal:
        assert "line 2: encoding must be one that keeps ASCII as it is and lines apart" in str(refusal)  # noqa: PT017
        return False
    return True


def keeps_lines(name: str) -> bool:
    """Return whether a codec makes no line breaks of other bytes."""
    texts = [line.decode(name, "backslashreplace") for line in LINES]
    return not any("\n" in text or "\r" in text for text in texts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*invalid:DeprecationWarning")
def test_a_line_is_one_line_in_every_encoding(tmp_path: Path) -> None:
    """Of the codecs that Python has, those are encodings that make one line of each line, whatever bytes it holds."""
    taken = {name for name in NAMES if is_encoding(name)}
    assert taken >= USUAL
    assert not taken & NO_CHARACTERS
    (tmp_path / "lines.csv").write_bytes(b"".join(line + end for end in (b"\n", b"\r\n") for line in LINES))
    for name in {codecs.lookup(name).name for name in taken}:
        assert keeps_lines(name), name
        copied = Utf8Copy([str(tmp_path / "lines.csv")], name)
        lines = Path(copied.files[0]).read_bytes().splitlines()
        copied.close()
        assert len(lines) == 2 * len(LINES), name
        assert lines[: len(LINES)] == lines[len(LINES) :], name
    assert not keeps_lines("raw_unicode_escape")  # which shows that others would be found


@pytest.mark.parametrize("encoding", ["euc_jp", "raw_unicode_escape", "iso2022_jp"])
def test_lines_stay_apart_whatever_decodes_them(tmp_path: Path, encoding: str) -> None:
    """A character that ends too early takes no line break with it, and what is no encoding makes no lines either."""
    (tmp_path / "lines.csv").write_bytes(b"\x1b$B0\x8f\n" + rb"a\u000ab\u000dc" + b"\n\x1b$B\n")
    copied = Utf8Copy([str(tmp_path / "lines.csv")], encoding)
    lines = Path(copied.files[0]).read_bytes().splitlines()
    copied.close()
    assert len(lines) == 3


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined"])
def test_a_codec_that_fails_is_a_refusal(tmp_path: Path, encoding: str) -> None:
    """Should a codec that is no encoding come through and fail, it fails as a file that cannot be read."""
    (tmp_path / "lines.csv").write_bytes(b"a..b\n" + b"a" * 70 + b"\n\xff-\xff\n")
    with pytest.raises(InvalidContract, match=r"cannot read lines\.csv"):
        Utf8Copy([str(tmp_path / "lines.csv")], encoding)


def test_a_form_is_for_csv_files(tmp_path: Path) -> None:
    """Forms of a file that has types, and of columns that hold no days, are refused."""
    text = CONTRACT.replace("visits.csv", "visits.parquet")
    with pytest.raises(InvalidContract, match="line 5: decimal is for csv files"):
        opened(tmp_path, 'decimal = ","', b"", text)
    with pytest.raises(InvalidContract, match="date_format needs bounds that are dates or times, but column 'cost'"):
        opened(tmp_path, "", b"", CONTRACT.replace('step 0.5"\n', 'step 0.5"\ndate_format = "%d.%m.%Y"\n'))


def test_a_copy_is_for_its_owner_alone_and_does_not_stay(tmp_path: Path) -> None:
    """A file in another encoding is copied where its owner alone can read it, and the copy goes with the dataset."""
    path = tmp_path / "visits.csv.gz"
    path.write_bytes(gzip.compress("who,clinic\na,Köln\n".encode("cp1252")))
    lines = CsvLines(str(path), [str(path)], CsvForm(encoding="cp1252"))
    (copied,) = [Path(one) for one in lines._files]
    assert copied.read_text("utf-8") == "who,clinic\na,Köln\n"
    if os.name == "posix":
        assert stat.S_IMODE(copied.parent.stat().st_mode) == 0o700
    lines.close()
    assert not copied.exists()


@pytest.mark.slow
def test_values_that_are_not_read_are_shouted_about(tmp_path: Path) -> None:
    """A check warns of columns of which more than 5 % is not read, and of lines; and tells if it is more than half."""
    said, _, lines = FORMS["German"]
    with opened(tmp_path, said, "\n".join(lines[:3]).encode()) as dataset:
        found = Inspection.of(dataset)
        assert found.hardly_read == ()
        assert found.is_readable
    with opened(tmp_path, 'delimiter = ";"', "\n".join(lines[:3]).encode()) as dataset:
        found = Inspection.of(dataset)
        assert [(one.column, one.unread, one.values) for one in found.hardly_read] == [("cost", 1, 2), ("day", 2, 2)]
        assert not found.is_readable
    with opened(tmp_path, "", "\n".join(PLAIN).encode("cp1252", "replace")) as dataset:
        found = Inspection.of(dataset)
        assert (found.hardly_read[0].column, found.hardly_read[0].unread) == ("", 3)


def test_the_ledger_keeps_what_decides_whose_a_line_is(tmp_path: Path) -> None:
    """Encoding and delimiter are terms of a contract; how numbers and days are written is not."""
    terms = []
    for form in ("", 'decimal = ","', 'date_format = "%d.%m.%Y"', 'encoding = "cp1252"'):
        with opened(tmp_path, form, b"who,cost,day,clinic,ward\n") as dataset:
            terms.append(dataset.terms)
    assert terms[0] == terms[1] == terms[2] != terms[3]


@pytest.mark.slow
def test_a_control_would_be_found(tmp_path: Path) -> None:
    """Negative control: without the form, totals are others."""
    found = []
    for form in FORMS["German"][0], 'delimiter = ";"':
        with opened(tmp_path, form, "\n".join(FORMS["German"][2]).encode()) as dataset:
            found.append(totals(dataset))
    assert sum(distance(a, b) for a, b in zip(*found, strict=True)) > 0


def test_a_name_in_quotes_may_hold_quotes(tmp_path: Path) -> None:
    """The names of a header are read like all fields: a quote inside quotes is doubled, also where it is alone."""
    (tmp_path / "visits.csv").write_text('"a""b","""",c\n', "utf-8")
    assert same_header([str(tmp_path / "visits.csv")], ",") == ['a"b', '"', "c"]
