"""`inbounds demo`: ten questions to a clinic, with plain noise and in bounds, side by side."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.clinic.clinic import LIMIT, REPORT_NAME, build
from inbounds.cli.clinic.questions import QUESTIONS, Ask
from inbounds.cli.shell.extras import needing, open_dataset
from inbounds.cli.shell.options import AsJson
from inbounds.cli.shell.output import format_pairs, progress, show
from inbounds.cli.shell.own_name import find_command
from inbounds.errors import BudgetExceeded, InvalidParameter

if TYPE_CHECKING:
    from inbounds.query import Dataset

ANALYST = "demo"
OFFICE = "office"

PLAIN = (
    "Laplace noise. A mean is a noisy sum over a noisy count, each at half of ε; a total is the sum of its parts; a "
    "median has the whole year as sensitivity, for one patient can move it so far"
)

Keep = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Keep the table, contract and ledger in this folder for more queries."),
]

Page = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="Also publish a report of the clinic's year, such as report.html."),
]


def command(keep: Keep = None, page: Page = None, as_json: AsJson = False) -> None:
    """Compare plain noise with inbounds on ten queries.

    \b
    Example:
      inbounds demo
    """
    if page is not None:
        check_target(page)
    if keep is None:
        with tempfile.TemporaryDirectory() as temporary:
            data, text = tell(Path(temporary), None, page)
    else:
        folder = Path(keep)
        if folder.exists() and not folder.is_dir():
            raise InvalidParameter(f"--keep must be a folder, got the file {keep!r}; name a new folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "clinic.toml").is_file():
            raise InvalidParameter(f"--keep must be a new folder or one that demo made, got {keep!r}; name another")
        folder.mkdir(parents=True, exist_ok=True)
        data, text = tell(folder, keep, page)
    show(data, text, as_json=as_json)


def check_target(page: str) -> None:
    """Refuse a report that cannot be written, before anything is asked."""
    with needing("query", "publishing reports"):
        from inbounds.publish.destinations import check_target as check  # noqa: PLC0415  the comparison does without
    check(page, REPORT_NAME)


def tell(folder: Path, keep: str | None = None, page: str | None = None) -> tuple[dict[str, Any], str]:
    """Ask everything, and return what was found: as data, and as a story that says how to go on."""
    with open_dataset(build(folder)) as visits:
        from inbounds.cli.clinic.comparison import DRAWS, compare  # noqa: PLC0415  which needs what the dataset needs

        rows = []
        with progress(len(QUESTIONS), "asking") as advance:
            for number, ask in enumerate(QUESTIONS, 1):
                rows += compare(visits, folder, number, ask, ANALYST)
                advance(1)
        refusal = _ask_once_more(visits)
        written = None if page is None else _publish(visits, folder / "report.sql", page)
        balance, check = visits.ledger.balance(visits.name, ANALYST), visits.ledger.verify()
    data = {
        "draws": DRAWS,
        "answers": rows,
        "impossible": {"plain": _count_impossible(rows, "plain"), "in_bounds": _count_impossible(rows, "in_bounds")},
        "one_more": refusal,
        "budget": balance.data(),
        "ledger": {"ok": check.ok, "entries": check.entries, "head": str(check.head)},
        "report": written,
    }
    ledger = f"{'verified' if check.ok else 'ALTERED'}, {check.entries} entries"
    story = _write_story(rows, DRAWS, refusal, str(balance), ledger, written)
    return data, f"{story}\n\n{_suggest(keep)}"


def _publish(visits: Dataset, report: Path, page: str) -> str:
    """Publish the clinic's report, paid by its office, and return what to say of it."""
    from inbounds.publish import ReportFile, plan_report, run_report  # noqa: PLC0415  only who wants a page needs it
    from inbounds.publish.destinations import write  # noqa: PLC0415

    plan = plan_report(ReportFile.load(report), visits, OFFICE)
    return f"{write(run_report(plan, visits), page)}, paid once and free to read; open it in a browser"


def _ask_once_more(visits: Dataset) -> str:
    """Ask once more than the budget allows, and return how that is refused."""
    try:
        visits.sql("SELECT COUNT(*) FROM visits").ask(0.1, analyst=ANALYST)
    except BudgetExceeded as refusal:
        return str(refusal)
    return "answered"


def _count_impossible(rows: list[dict[str, Any]], way: str) -> int:
    return sum(not row[f"{way}_possible"] for row in rows)


def _write_story(
    rows: list[dict[str, Any]], draws: int, refusal: str, balance: str, ledger: str, written: str | None
) -> str:
    lines = [
        "Ten questions about a made-up clinic, answered with plain noise and by inbounds.",
        f"Both keep the same promise: the same ε for everything shown, at most {LIMIT} visits of",
        "each patient, and no free facts, such as the number of rows behind a mean.",
        "* marks answers that everyone knows are impossible: below zero, above 100 %,",
        "or a day when the clinic was closed (weekends, 3 to 14 August, 25 December,",
        "any other year).",
        "",
        f"{f'mean error over {draws:,} draws':>80}",
        f"{'truth':>30}{'plain noise':>12}{'inbounds':>13}{'plain noise':>14}{'inbounds':>11}",
    ]
    for number, ask in enumerate(QUESTIONS, 1):
        lines.append(f"{number:>2} {ask.sql()}")
        lines.extend(_write_line(ask, row) for row in rows if row["number"] == number)
    plain, bounded = (_count_impossible(rows, way) for way in ("plain", "in_bounds"))
    ending = [
        ("impossible", f"{plain} of {len(rows)} answers with plain noise, {bounded or 'none'} in bounds"),
        ("accuracy", _compare_errors(rows)),
        ("plain noise", PLAIN),
        ("budget", f"{balance}; each charge was recorded before its answer"),
        ("one more", f"an 11th question at ε = 0.1 was refused: {refusal}"),
        ("ledger", ledger),
        *([] if written is None else [("report", written)]),
    ]
    return "\n".join([*lines, "", format_pairs(ending)])


def _compare_errors(rows: list[dict[str, Any]]) -> str:
    """Say who is nearer, and where plain noise is."""
    parts = [f"inbounds has the smaller mean error in {_nearer(rows, 'in_bounds')} of {len(rows)} rows"]
    if plain := [f"{row['number']} {row['group']}".rstrip() for row in rows if row["nearer"] == "plain"]:
        parts.append(f"plain noise in {len(plain)} ({', '.join(plain)})")
    if undecided := _nearer(rows, None):
        parts.append(f"in {undecided} it is too close to call")
    return ", ".join(parts)


def _nearer(rows: list[dict[str, Any]], way: str | None) -> int:
    return sum(row["nearer"] == way for row in rows)


def _suggest(keep: str | None) -> str:
    """Return the commands to go on with, after those that make the clinic if it was not kept."""
    folder = "clinic" if keep is None else shlex.quote(keep)
    lines = [
        "Ask your own questions:",
        *([f"  {find_command()} demo --keep clinic"] if keep is None else []),
        f"  {find_command()} query --dataset {folder}/clinic.toml \\",
        "      --epsilon 0.5 --analyst you \\",
        '      "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"',
    ]
    return "\n".join(lines)


def _write_line(ask: Ask, row: dict[str, Any]) -> str:
    plain, bounded = (ask.shown(row[way]) + (" " if row[f"{way}_possible"] else "*") for way in ("plain", "in_bounds"))
    errors = [ask.shown_error(row[f"{way}_error"]) for way in ("plain", "in_bounds")]
    label = row["group"] or ask.title
    return f"{'':<6}{label:<13}{ask.shown(row['truth']):>11}{plain:>13}{bounded:>13}{errors[0]:>13}{errors[1]:>11}"
