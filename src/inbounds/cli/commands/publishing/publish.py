"""`inbounds publish`: a report that is paid once, and written where everybody may read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.bounds.notation import write_end
from inbounds.cli.shell.access import open_access
from inbounds.cli.shell.exit_codes import FAILED
from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import AsJson, KeyFile, LedgerPlace, Practise, Server
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import AnswerFailed, BudgetExceeded, InvalidParameter, InvalidReport, LedgerConflict

if TYPE_CHECKING:
    from inbounds.publish import Report, ReportPlan

REFUSALS = (AnswerFailed, BudgetExceeded, ImportError, InvalidParameter, InvalidReport, LedgerConflict)
"""What is no interruption: typed again, the same command is refused again."""

ReportPath = Annotated[
    str | None, typer.Argument(metavar="REPORT", help="The report, a file of SQL with headers.", show_default=False)
]
Contract = Annotated[
    str | None, typer.Option("--dataset", metavar="FILE", help="The table's contract, a TOML file.", show_default=False)
]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Who pays; the cost is charged to this name.")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="TARGET", help="Write the report here: a file, a folder or a database; may be repeated."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Publish without asking first.")]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Only show the plan: nothing is spent.")]
Published = Annotated[
    str | None,
    typer.Option(
        "--verify", metavar="TARGET", help="Instead, say whether a published report is unchanged: no other option."
    ),
]


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    report: ReportPath = None,
    dataset: Contract = None,
    analyst: Analyst = None,
    to: Targets = None,
    yes: Yes = False,
    plan: PlanOnly = False,
    verify: Published = None,
    practise: Practise = False,
    ledger: LedgerPlace = None,
    server: Server = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Publish a report: paid once, read by everybody.

    The report is a file of SQL, with a name and a cost above each query. Its plan says what each query costs and how
    accurate it will be. What was published before is free: run it again after an interruption, or for another target.
    With --verify a published report is read back; the exit code is 1 if anything in it was changed.

    \b
    Example:
      inbounds publish report.sql --dataset clinic.toml --analyst office --plan
    """
    if verify is not None:
        if report or dataset or analyst or to or yes or plan or ledger or server or key_file:
            raise InvalidParameter(
                "--verify publishes nothing and takes no other option but --json, got more; verify and publish one "
                "after the other"
            )
        _verify(verify, as_json=as_json)
        return
    if report is None or dataset is None:
        missing = "REPORT" if report is None else "--dataset"
        raise InvalidParameter(
            f"{missing} is missing; write inbounds publish report.sql --dataset clinic.toml --analyst office --plan"
        )
    targets = [] if to is None else to
    if server is None and analyst is None and not practise:
        raise InvalidParameter(
            "--analyst is missing; give the name that pays, or --server, where your API key identifies you"
        )
    if not targets and not plan:
        raise InvalidParameter("--to is missing; name a file such as report.html, or add --plan to see the plan only")
    with needing("query", "publishing reports"):
        from inbounds.publish import ReportFile, plan_report, run_report  # noqa: PLC0415  the other commands do without
        from inbounds.publish.destinations import check_target, write  # noqa: PLC0415
        from inbounds.publish.run import why_no_head  # noqa: PLC0415
    file = ReportFile.load(report)
    for target in targets:
        check_target(target, file.name, practice=practise)
    where = {"ledger": ledger, "analyst": analyst}
    with open_access(dataset, server, key_file, **where, create_ledger=not plan, practise=practise) as access:
        planned = plan_report(file, access.dataset, access.who.get("analyst"))
        if plan:
            show(planned.data(), str(planned), as_json=as_json)
            return
        _agree(planned, yes=yes or practise, as_json=as_json)
        with _remembering(file.name):
            published = run_report(planned, access.dataset)
            written = [write(published, target) for target in targets]
        why = why_no_head(access.dataset)
        created = access.tell_of_ledger(as_json=as_json)
    data = {**published.data(), "written": written, "paid_now": planned.due, "why_no_head": why, **created}
    show(data, _describe(published, planned, written, why), as_json=as_json)


def _verify(target: str, *, as_json: bool) -> None:
    """Say whether a published report is what its digest says."""
    with needing("query", "reading reports"):
        from inbounds.publish.destinations import verify  # noqa: PLC0415  the other commands do without
    found = verify(target)
    data = {"target": found.target, "holds": found.holds, "digest": found.digest, "faults": list(found.faults)}
    show(data, str(found), as_json=as_json)
    if not found.holds:
        raise typer.Exit(FAILED)


def _agree(plan: ReportPlan, *, yes: bool, as_json: bool) -> None:
    """Show what will be done, and go on only if that is agreed to; what costs nothing needs no agreement."""
    from inbounds.publish.run import refuse_excess  # noqa: PLC0415

    if not as_json:
        show(None, f"{plan}\n", as_json=False)
    refuse_excess(plan)
    if yes or not plan.due:
        return
    cost = write_end(plan.due)
    if not _is_terminal():
        if as_json:
            show(plan.data(), "", as_json=True)
        raise InvalidParameter(f"publish: nothing was spent; add --yes to publish the report and spend epsilon {cost}")
    if as_json:
        typer.echo(f"{plan}\n", err=True)
    if not typer.confirm(f"Publish {plan.file.title!r} (spends epsilon {cost})?", default=False, err=True):
        raise typer.Abort


def _is_terminal() -> bool:
    """Return whether somebody is there to be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


@contextmanager
def _remembering(name: str) -> Iterator[None]:
    """Say how to go on, if publishing is interrupted."""
    try:
        yield
    except REFUSALS:  # after which it would not go on
        raise
    except BaseException:
        with suppress(OSError):  # nobody reads that either
            typer.echo(
                f"inbounds: publishing {name!r} was interrupted; the same command goes on with it, and pays nothing "
                "twice",
                err=True,
            )
        raise


def _describe(report: Report, plan: ReportPlan, written: list[str], why: str | None) -> str:
    if report.practice:
        about = f"{report.title}, {len(report.tables)} tables of MADE-UP ROWS; nothing was charged"
        return format_pairs([("practice", about), *(("target", text) for text in written)])
    lines = [
        ("published", f"{report.title}, {len(report.tables)} tables, for ε = {write_end(report.epsilon)}"),
        ("paid now", f"ε = {write_end(plan.due)}"),
        *(("target", text) for text in written),
        ("digest", report.digest),
        ("ledger head", report.ledger_head or f"none: {why or 'nothing was charged'}"),
    ]
    return format_pairs(lines)
