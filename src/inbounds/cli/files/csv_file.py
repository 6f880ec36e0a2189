"""A csv file with one column released: every other character of it stays as it is.

A line is a row, and nothing is guessed.  A reader that honours line breaks inside quotes, or finds types, comments and
delimiters by looking at the rows, lets one row decide how the others are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from inbounds.cli.files.answer_text import BYTE_ORDER_MARK, as_text, read_cell
from inbounds.errors import InvalidParameter
from inbounds.files.csv_text import DELIMITERS, find_delimiters, split_line, unquote
from inbounds.mechanisms.exact_release import release_all

AT_ONCE = 16_384
"""Lines between two moves of the progress bar."""


@dataclass(frozen=True)
class CsvLayout:
    """What the first line says."""

    file: str
    delimiter: str
    names: list[str]

    @classmethod
    def of(cls, file: str, first_line: str) -> CsvLayout:
        """Take the first line apart; what separates names must be one thing, for a guess could cut values apart."""
        line = _strip_end(first_line.removeprefix(BYTE_ORDER_MARK))
        if not line or "\0" in line or any("\udc80" <= character <= "\udcff" for character in line):
            raise InvalidParameter(f"{file} must be UTF-8 text whose first line names the columns; convert it")
        delimiters = find_delimiters(line)
        if len(delimiters) > 1:
            several = " and ".join(DELIMITERS[delimiter] for delimiter in delimiters)
            raise InvalidParameter(
                f"the first line of {file} must use one separator, got {several}; "
                "quote the names that contain a separator, or rename these columns"
            )
        layout = cls(file, delimiters[0] if delimiters else ",", [])
        layout.names.extend(unquote(field) for field in layout.fields(line, 1))
        return layout

    def place(self, column: str) -> int:
        """Return which field of a row is in a column."""
        if self.names.count(column) != 1:  # the names are not listed: without a header they are data
            several = f"has {self.names.count(column)} columns" if column in self.names else "has no column"
            raise InvalidParameter(
                f"{self.file} {several} {column!r} among its {len(self.names)}; check --column, and that the "
                "first line names each column once"
            )
        return self.names.index(column)

    def fields(self, line: str, number: int) -> list[str]:
        """Take a line apart, quotes and all; joined again it is the same."""
        fields = split_line(line, self.delimiter)
        if fields is None:
            raise InvalidParameter(
                f"line {number} of {self.file} must have quotes around whole fields only, doubled inside, and "
                "no line break in a field; convert the file to parquet"
            )
        if self.names and len(fields) != len(self.names):
            raise InvalidParameter(
                f"line {number} of {self.file} must have {len(self.names)} fields, like the first line; fix that line"
            )
        return fields


@dataclass
class Tally:
    """How many cells were released, and how many are empty."""

    released: int = 0
    missing: int = 0


def release_csv(
    mechanism: Any, source: Path, column: str, target: Path, advance: Callable[[int], None]
) -> tuple[int, int]:
    """Write a copy of a file with one column released, some lines at a time; return what was counted."""
    tally = Tally()
    with _open(source, "r") as old, _open(target, "w") as new:
        first_line = old.readline()
        layout = CsvLayout.of(source.name, first_line)
        place = layout.place(column)
        new.write(first_line)
        numbered = enumerate(old, 2)
        while lines := list(islice(numbered, AT_ONCE)):
            new.writelines(_release(mechanism, layout, place, lines, tally))
            advance(sum(len(line) for _, line in lines))
    return tally.released, tally.missing


def _open(path: Path, mode: str) -> IO[str]:
    """Open a file so that every byte is kept, whatever the encoding and the line ends."""
    return path.open(mode, encoding="utf-8", errors="surrogateescape", newline="")


def _release(
    mechanism: Any, layout: CsvLayout, place: int, lines: list[tuple[int, str]], tally: Tally
) -> Iterator[str]:
    """Yield lines with the released answers in them; those with nothing to release as they are."""
    rows = [layout.fields(body, number) if (body := _strip_end(line)) else None for number, line in lines]
    answers = [
        None if row is None else read_cell(unquote(row[place]), mechanism.bounds, f"line {number} of {layout.file}")
        for row, (number, _) in zip(rows, lines, strict=True)
    ]
    known = [answer for answer in answers if answer is not None]
    drawn = map(as_text, release_all(mechanism, known))
    tally.released += len(known)
    tally.missing += sum(row is not None and answer is None for row, answer in zip(rows, answers, strict=True))
    for (_, line), row, answer in zip(lines, rows, answers, strict=True):
        if row is None or answer is None:
            yield line
            continue
        row[place] = next(drawn)
        yield layout.delimiter.join(row) + line[len(_strip_end(line)) :]


def _strip_end(line: str) -> str:
    return line.rstrip("\r\n")
