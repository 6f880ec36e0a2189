"""What a target is, by its name; and the four things that one does with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from inbounds.display.suggestion import find_nearest
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.ledger.values.address import is_address, is_server, without_secrets
from inbounds.publish.destinations.csv_folder import CsvFolder
from inbounds.publish.destinations.destination import Destination
from inbounds.publish.destinations.duckdb_file import DuckdbFile
from inbounds.publish.destinations.html_file import HtmlFile
from inbounds.publish.destinations.json_file import JsonFile
from inbounds.publish.destinations.parquet_folder import ParquetFolder
from inbounds.publish.destinations.verified import Verified
from inbounds.publish.destinations.xlsx_file import XlsxFile
from inbounds.report.report import Report, digest_of

FILES: dict[str, Callable[[str], Destination]] = {
    ".html": HtmlFile,
    ".xlsx": XlsxFile,
    ".json": JsonFile,
    ".duckdb": DuckdbFile,
    ".db": DuckdbFile,
}
"""By the ending of a file."""

FOLDERS: dict[str, Callable[[str], Destination]] = {"": CsvFolder, ".csv": CsvFolder, ".parquet": ParquetFolder}
"""By the ending of a folder, whose name has a slash at its end."""

RULE = (
    "a target must end in .html, .xlsx, .json or .duckdb, in a slash for a folder of csv files, in .parquet/ for one "
    "of parquet files, or be postgresql://…?schema=NAME"
)

SYNONYMS = {
    "xls": ".xlsx",
    "xlsm": ".xlsx",
    "ods": ".xlsx",
    "excel": ".xlsx",
    "htm": ".html",
    "xhtml": ".html",
    "pdf": ".html",
    "md": ".html",
    "jsonl": ".json",
    "ddb": ".duckdb",
    "sqlite": ".duckdb",
}
"""Other endings for what there is."""


def check_target(target: str, name: str | None = None, *, practice: bool = False) -> None:
    """Refuse a target that the report of this name cannot be written to, before anything is spent."""
    destination = open_destination(target)
    with _refusing(destination, "written"):
        destination.check(name, practice=practice)


def write(report: Report, target: str) -> str:
    """Write a report, whole or not at all, and return what to say of it."""
    destination = open_destination(target)
    report = Report.read(json.loads(json.dumps(report.data(), allow_nan=False)))  # as whoever reads it back has it
    with _refusing(destination, "written"):
        destination.check(report.name, practice=report.practice)
        destination.write(report)
    many = len(report.tables)
    return f"wrote {destination.called}: {'1 table' if many == 1 else f'{many} tables'}"


def read_report(target: str) -> Report:
    """Read back the report that a target holds; `verify` says whether it was changed."""
    destination = open_destination(target)
    with _refusing(destination, "read"):
        return destination.as_report(destination.stored())


def verify(target: str) -> Verified:
    """Read a target, and say whether every number in it is still what the digest says."""
    destination = open_destination(target)
    with _refusing(destination, "read"):
        data = destination.stored()
        report = destination.as_report(data)
        faults = []
        if not digest_of(data) == report.digest == data.get("digest"):
            faults.append(
                f"its digest says {shown(data.get('digest'))}, its numbers and words have {digest_of(data)!r}"
            )
        faults += destination.faults(report)
    return Verified(destination.called, str(data.get("digest")), tuple(faults), report)


def open_destination(target: str) -> Destination:
    """Return what a target is, by its name."""
    if is_server(target):
        from inbounds.publish.destinations.postgres_schema import PostgresSchema  # noqa: PLC0415  which needs psycopg

        return PostgresSchema(target)
    ending = Path(target).suffix.lower()
    is_folder = target.endswith(("/", "\\"))
    found = (FOLDERS if is_folder else FILES).get(ending)
    is_path = "\0" not in target and target.strip("/\\. ") and not is_address(target)
    if found is not None and is_path:
        return found(target)
    raise InvalidParameter(f"{RULE}, got {without_secrets(target)!r}; {_remedy(target, ending, is_folder=is_folder)}")


def _remedy(target: str, ending: str, *, is_folder: bool) -> str:
    """Say which target may have been meant."""
    bare = without_secrets(target).rstrip("/\\")
    if not bare.strip(". ") or bare != target.rstrip("/\\"):  # nothing, or what may hold a password
        return "write for example report.html"
    if is_folder:
        return f"did you mean {bare!r}?" if ending in FILES else f"write {bare.removesuffix(ending) + '/'!r}"
    if ending in FOLDERS and (ending or Path(target).is_dir()):
        return f"did you mean {bare + '/'!r}?"
    near = find_nearest(ending[1:], [one[1:] for one in FILES], {other: one[1:] for other, one in SYNONYMS.items()})
    stem = bare.removesuffix(Path(bare).suffix) if near else bare
    return f"did you mean {stem + '.' + near[0]!r}?" if near else f"write for example {stem + '.html'!r}"


@contextmanager
def _refusing(destination: Destination, doing: str) -> Iterator[None]:
    """Say in our own words what the system refused, such as a full disk."""
    try:
        yield
    except OSError as problem:
        raise InvalidParameter(
            f"{destination.called!r} cannot be {doing}: {problem.strerror}; check the disk and the permissions, or "
            "choose another place. What was paid for is kept, and costs nothing again"
        ) from None
