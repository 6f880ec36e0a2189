"""An answer as JSON: written and read here alone, for the command line, the server and its clients."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from fractions import Fraction
from itertools import repeat
from typing import Any

from inbounds.exact.rational import write_fraction
from inbounds.results.answer import Answer
from inbounds.results.cell_kinds import TIMES, find_kind
from inbounds.results.cover import Cover
from inbounds.results.nothing_learnt import WholeRange


def write_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON has it: days, times and the cost as texts, and beside each column what its cells are."""
    measures = answer.measure_places
    return {
        "id": answer.request_id,
        "columns": [
            {"name": name, "kind": _kind_of(answer, place), "is_key": place not in measures}
            for place, name in enumerate(answer.columns)
        ],
        "rows": _plain(answer.rows),
        "expected_noise": _plain(answer.noise),
        "intervals": _plain(answer.intervals),
        "intervals_noise_only": _plain(answer.intervals_noise_only),
        "learnt": _plain(answer.learnt),
        "intervals_with_cut_rows": _plain(answer.intervals_with_cut_rows),
        "confidence": answer.confidence,
        "simultaneous": answer.simultaneous,
        "caveat": answer.caveat,
        "row_limit": answer.row_limit,
        "warnings": _plain(answer.warnings),
        "remarks": _plain(answer.remarks),
        "note": answer.note,
        "public": _plain(answer.public),
        "epsilon": write_fraction(answer.epsilon),
        "practice": answer.practice,
    }


def read_answer(data: Mapping[str, Any]) -> Answer:
    """Return the answer that was written."""
    columns = data["columns"]
    kinds = [column["kind"] for column in columns]
    measured = tuple(place for place, column in enumerate(columns) if not column["is_key"])
    return Answer(
        columns=tuple(column["name"] for column in columns),
        rows=tuple(_read_row(row, kinds) for row in data["rows"]),
        noise=tuple(map(tuple, data["expected_noise"])),
        epsilon=Fraction(data["epsilon"]),
        request_id=data["id"],
        row_limit=data["row_limit"],
        intervals=tuple(
            _read_intervals(row, [kinds[place] for place in measured], learnt)
            for row, learnt in zip(data["intervals"], data.get("learnt") or repeat([]), strict=False)
        ),
        confidence=data["confidence"],
        warnings=tuple(data["warnings"]),
        note=data["note"],
        measured=measured,
        covers=_read_covers(data),
        public=tuple(data.get("public", ())),
        remarks=tuple(data.get("remarks", ())),
        simultaneous=data.get("simultaneous", False),
        practice=bool(data.get("practice", False)),
        kinds=() if data["rows"] else tuple(kinds),
    )


def _read_covers(data: Mapping[str, Any]) -> tuple[Cover, ...]:
    """Return what intervals are about; an older server says less."""
    noise_only = data.get("intervals_noise_only", ())
    with_cut_rows = data.get("intervals_with_cut_rows") or [False] * len(noise_only)
    return tuple(
        Cover.NOISE if noise else Cover.WITH_CUT_ROWS if cut else Cover.TRUTH
        for noise, cut in zip(noise_only, with_cut_rows, strict=True)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _kind_of(answer: Answer, place: int) -> str:
    """Return what the cells of a column are."""
    return answer.kinds[place] if answer.kinds else find_kind([row[place] for row in answer.rows])


def _read_row(row: list[Any], kinds: list[str]) -> tuple[Any, ...]:
    return tuple(_read(cell, kind) for cell, kind in zip(row, kinds, strict=True))


def _read_intervals(row: list[Any], kinds: list[str], learnt: list[bool]) -> tuple[Any, ...]:
    """Return the intervals of a row; an older server does not say where nothing was learnt."""
    tells = learnt or [True] * len(row)
    pairs = zip(_read_row(row, kinds), tells, strict=True)
    return tuple(ends if ends is None or one else WholeRange(ends) for ends, one in pairs)


def _read(cell: Any, kind: str) -> Any:
    """Return a cell, or the ends of an interval."""
    if isinstance(cell, list):
        return tuple(_read(end, kind) for end in cell)
    return TIMES[kind].fromisoformat(cell) if kind in TIMES and isinstance(cell, str) else cell
