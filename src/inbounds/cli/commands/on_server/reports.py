"""`inbounds reports`: the reports of a server: read, proposed by analysts, and decided about by custodians."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.bounds.notation import write_end
from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import AsJson, KeyFile
from inbounds.cli.shell.output import format_pairs, show
from inbounds.cli.shell.server import SHOWN, ServerAddress, connected, find_entry
from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from inbounds.client import Connection, ReportEntry
    from inbounds.report import Report

app = typer.Typer(
    cls=CommandGroup,
    help="""Read the reports of a server, propose one, or decide about one.

    \b
    Example:
      inbounds reports list --server https://inbounds.hospital.example
    """,
    short_help="Read, propose and approve the reports of a server.",
)

ReportId = Annotated[
    str, typer.Argument(metavar="ID", help="The report's id, or its beginning, as list shows it.", show_default=False)
]
ReportPath = Annotated[
    str, typer.Argument(metavar="REPORT", help="The report, a file of SQL with headers.", show_default=False)
]
DatasetName = Annotated[str, typer.Option("--dataset", metavar="NAME", help="The dataset's name on the server.")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="TARGET", help="Write the report here: a file, a folder or a database; may be repeated."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Approve without asking first.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="Why, for the analyst.", show_default=False)]

LIST = "inbounds reports list shows all of them"


@app.command("list", cls=Command)
def list_reports(server: ServerAddress, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """List the reports you may see, newest first.

    Published reports are there for everybody; analysts also see their own proposals, and custodians all of them.

    \b
    Example:
      inbounds reports list --server https://inbounds.hospital.example
    """
    from inbounds.display.table import Column, TextTable  # noqa: PLC0415

    with connected(server, key_file) as connection:
        entries = connection.reports()
    columns = [Column(name, left=True) for name in ("id", "state", "title", "analyst")] + [Column("cost (ε)")]
    cells = [[one.id[:SHOWN], one.state, _title_of(one), one.analyst, write_end(one.epsilon)] for one in entries]
    text = str(TextTable(columns, cells)) if entries else "there is no report yet"
    show([asdict(one) for one in entries], text, as_json=as_json)


@app.command("show", cls=Command)
def show_report(
    report_id: ReportId, server: ServerAddress, to: Targets = None, key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """Show a published report, or write it where everybody may read it.

    Reading is free. What is written can be checked with inbounds publish --verify.

    \b
    Example:
      inbounds reports show 3f0c --to report.html \\
          --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        entry = _find(connection, report_id)
        if entry.state != "published":
            raise InvalidParameter(
                f"only a published report can be read, but {_title_of(entry)!r} is {entry.state}; {LIST}"
            )
        report = connection.report(entry.id)
    written = _write(report, to or [])
    show({**report.data(), "written": written}, _describe(report, written), as_json=as_json)


@app.command("propose", cls=Command)
def propose(
    report: ReportPath, dataset: DatasetName, server: ServerAddress, key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """Propose a report file, for free.

    Its queries run, at your charge, once a custodian approves it. Each is asked by itself.

    \b
    Example:
      inbounds reports propose report.sql --dataset visits \\
          --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        entry = connection.propose_report_file(dataset, report)
    show(asdict(entry), format_pairs(_facts(entry)), as_json=as_json)


@app.command("approve", cls=Command)
def approve(
    report_id: ReportId, server: ServerAddress, yes: Yes = False, key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """Run a report and publish it; for custodians.

    It is paid by the analyst who proposed it. After an interruption the same command goes on where it was, and nothing
    is paid twice.

    \b
    Example:
      inbounds reports approve 3f0c --yes \\
          --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        entry = _find(connection, report_id)
        _agree(entry, yes=yes)
        entry = connection.approve_report(entry.id)
    show(asdict(entry), format_pairs(_facts(entry)), as_json=as_json)


@app.command("reject", cls=Command)
def reject(
    report_id: ReportId, server: ServerAddress, note: Note = "", key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """Reject a report that is not published yet; for custodians.

    \b
    Example:
      inbounds reports reject 3f0c --note "too much for one table" \\
          --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        entry = connection.reject_report(_find(connection, report_id).id, note)
    show(asdict(entry), format_pairs(_facts(entry)), as_json=as_json)


def _find(connection: Connection, typed: str) -> ReportEntry:
    return find_entry(connection.reports(), typed, "report", LIST)


def _title_of(entry: ReportEntry) -> str:
    return entry.title if entry.edition is None else f"{entry.title} ({entry.edition})"


def _facts(entry: ReportEntry) -> list[tuple[str, Any]]:
    """Return a report that is decided about, in words."""
    tables = [(one.name, f"ε = {write_end(one.epsilon)}; {' '.join(one.sql.split())}") for one in entry.questions]
    decided = [] if entry.decided_by is None else [("decided by", entry.decided_by)]
    noted = [] if not entry.note else [("note", entry.note)]
    digest = [] if entry.digest is None else [("digest", entry.digest)]
    return [
        ("report", f"{_title_of(entry)}, of {entry.dataset}"),
        ("state", entry.state),
        *decided,
        *noted,
        *tables,
        ("cost (ε)", f"{write_end(entry.epsilon)}, paid by {entry.analyst}"),
        ("id", entry.id),
        *digest,
    ]


def _agree(entry: ReportEntry, *, yes: bool) -> None:
    """Show what will be run, and go on only if that is agreed to."""
    if yes or entry.state == "published":
        return
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise InvalidParameter(
            f"reports approve: nothing was spent; add --yes to spend epsilon {write_end(entry.epsilon)} of "
            f"{entry.analyst}'s budget"
        )
    typer.echo(format_pairs(_facts(entry)), err=True)
    question = f"Approve {entry.title!r} (spends epsilon {write_end(entry.epsilon)} of {entry.analyst}'s budget)?"
    if not typer.confirm(question, default=False, err=True):
        raise typer.Abort


def _write(report: Report, targets: list[str]) -> list[str]:
    """Write a report to all targets, none of which may be impossible, and return what to say of each."""
    if not targets:
        return []
    with needing("query", "writing reports"):
        from inbounds.publish.destinations import check_target, write  # noqa: PLC0415  whoever only reads does without
    for target in targets:
        check_target(target, report.name, practice=report.practice)
    return [write(report, target) for target in targets]


def _describe(report: Report, written: list[str]) -> str:
    """Return a report in words: where it was written, or all its tables."""
    edition = "" if report.edition is None else f", edition {report.edition}"
    facts: list[tuple[str, Any]] = [
        ("report", f"{report.title}, of {report.dataset}{edition}"),
        ("published", f"{report.published}, paid by {report.analyst}"),
        ("cost (ε)", f"{write_end(report.epsilon)}; reading is free"),
        *(("target", text) for text in written),
        ("digest", report.digest),
    ]
    tables = [] if written else [f"{table.title}\n\n{table.answer}" for table in report.tables]
    return "\n\n".join([*tables, format_pairs(facts)])
