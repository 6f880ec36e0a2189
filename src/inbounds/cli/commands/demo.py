"""`inbounds demo`: ten questions to a clinic, with plain noise and in bounds, side by side."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.clinic.clinic import build, true_rows
from inbounds.cli.clinic.questions import QUESTIONS, Ask
from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.options import AsJson
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import BudgetExceeded, InvalidParameter

if TYPE_CHECKING:
    from inbounds.query import Dataset

ANALYST = "demo"

Keep = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Keep the table, contract and ledger in this folder for more queries."),
]


def command(keep: Keep = None, as_json: AsJson = False) -> None:
    """Compare plain noise with inbounds on ten queries.

    \b
    Example:
      inbounds demo
    """
    if keep is None:
        with tempfile.TemporaryDirectory() as temporary:
            data, text = tell(Path(temporary))
    else:
        folder = Path(keep)
        if folder.exists() and not folder.is_dir():
            raise InvalidParameter(f"--keep must be a folder, got the file {keep!r}; name a new folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "clinic.toml").is_file():
            raise InvalidParameter(f"--keep must be a new folder or one that demo made, got {keep!r}; name another")
        folder.mkdir(parents=True, exist_ok=True)
        data, text = tell(folder, keep)
    show(data, text, as_json=as_json)


def tell(folder: Path, keep: str | None = None) -> tuple[dict[str, Any], str]:
    """Ask everything, and return what was found: as data, and as a story that says how to go on."""
    with open_dataset(build(folder)) as visits:
        rows = [row for number, ask in enumerate(QUESTIONS, 1) for row in _ask(visits, folder, number, ask)]
        refusal = _ask_once_more(visits)
        balance, check = visits.ledger.balance(visits.name, ANALYST), visits.ledger.verify()
    data = {
        "answers": rows,
        "impossible": {"plain": _count_impossible(rows, "plain"), "in_bounds": _count_impossible(rows, "in_bounds")},
        "one_more": refusal,
        "budget": balance.data(),
        "ledger": {"ok": check.ok, "entries": check.entries, "head": str(check.head)},
    }
    ledger = f"{'verified' if check.ok else 'ALTERED'}, {check.entries} entries"
    return data, f"{_write_story(rows, refusal, str(balance), ledger)}\n\n{_suggest(keep)}"


def _ask(visits: Dataset, folder: Path, number: int, ask: Ask) -> list[dict[str, Any]]:
    answer = visits.sql(ask.sql()).ask(ask.epsilon, analyst=ANALYST, request_id=f"demo-{number}")
    truths, counts = ({row[:-1]: row[-1] for row in true_rows(folder, sql)} for sql in (ask.sql(), ask.sql("COUNT(*)")))
    rows: list[dict[str, Any]] = []
    for *group, value in answer.rows:
        truth = truths.get(tuple(group), 0)
        plain = ask.plain(truth, counts.get(tuple(group), 0), ask.epsilon)
        possible = _add_up(rows) if group == [None] else {}
        rows.append(
            {
                "number": number,
                "sql": ask.sql(),
                "epsilon": ask.epsilon,
                "group": ", ".join("(all)" if key is None else str(key) for key in group),
                "truth": truth,
                "plain": plain,
                "plain_possible": ask.possible(plain) and plain == possible.get("plain", plain),
                "in_bounds": value,
                "in_bounds_possible": ask.possible(value) and value == possible.get("in_bounds", value),
            }
        )
    return rows


def _add_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a total must be: the sum of the rows above it."""
    return {way: sum(row[way] for row in rows) for way in ("plain", "in_bounds")}


def _ask_once_more(visits: Dataset) -> str:
    """Ask once more than the budget allows, and return how that is refused."""
    try:
        visits.sql("SELECT COUNT(*) FROM visits").ask(0.1, analyst=ANALYST)
    except BudgetExceeded as refusal:
        return str(refusal)
    return "answered"


def _count_impossible(rows: list[dict[str, Any]], way: str) -> int:
    return sum(not row[f"{way}_possible"] for row in rows)


def _write_story(rows: list[dict[str, Any]], refusal: str, balance: str, ledger: str) -> str:
    lines = [
        "Ten questions about a made-up clinic. It is closed on weekends, from 3 to 14",
        "August and on 25 December 2026. * marks answers that everyone knows are",
        "impossible: below zero, above 100 %, on a closed day, or a total that is not",
        "the sum of its parts.",
        "",
        f"{'':<38}{'truth':>13}{'plain noise':>15}{'inbounds':>13}",
    ]
    for number, ask in enumerate(QUESTIONS, 1):
        lines.append(f"{number:>2} {ask.sql()}")
        lines.extend(_write_line(ask, row) for row in rows if row["number"] == number)
    plain, bounded = (_count_impossible(rows, way) for way in ("plain", "in_bounds"))
    ending = [
        ("impossible", f"{plain} of {len(rows)} answers with plain noise, {bounded or 'none'} in bounds"),
        ("budget", f"{balance}; each charge was recorded before its answer"),
        ("one more", f"an 11th question at ε = 0.1 was refused: {refusal}"),
        ("ledger", ledger),
    ]
    return "\n".join([*lines, "", format_pairs(ending)])


def _suggest(keep: str | None) -> str:
    """Return the commands to go on with, after those that make the clinic if it was not kept."""
    folder = "clinic" if keep is None else shlex.quote(keep)
    lines = [
        "Ask your own questions:",
        *([f"  {_find_command()} demo --keep clinic"] if keep is None else []),
        f"  {_find_command()} query --dataset {folder}/clinic.toml \\",
        "      --epsilon 0.5 --analyst you \\",
        '      "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"',
    ]
    return "\n".join(lines)


def _find_command() -> str:
    """Return how to call the command from here, also in an environment that is not active."""
    called = Path(sys.argv[0])
    elsewhere = shutil.which("inbounds") is None and called.name == "inbounds"
    return str(called) if elsewhere and not called.is_absolute() else "inbounds"


def _write_line(ask: Ask, row: dict[str, Any]) -> str:
    marked = [ask.shown(row[way]) + (" " if row[f"{way}_possible"] else "*") for way in ("plain", "in_bounds")]
    label = row["group"] or ask.title
    return f"{'':<6}{label:<32}{ask.shown(row['truth']):>13}{marked[0]:>16}{marked[1]:>13}".rstrip()
