"""The picture of a plan: what the recommended mechanism releases, and its error beside that of others."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from typing import Any

from inbounds import plot
from inbounds.choosing.comparison import Comparison
from inbounds.choosing.recommendation import Recommendation
from inbounds.files.whole_file import replacing
from inbounds.plot.style import matplotlib_or_error

RIVALS = 4
"""How many mechanisms the picture of errors shows."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Which mechanism?</title>
<style>body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto }} svg {{ max-width: 100%; height: auto }}
table {{ border-collapse: collapse }} td, th {{ padding: 0.2em 0.7em; text-align: left }}</style></head>
<body><p><strong>{reason}</strong></p>
{table}
{picture}
</body></html>
"""


def save(path: Path, compared: Comparison, best: Recommendation) -> None:
    """Write the picture, in the form that the file's name asks for."""
    figure = _draw_figure(compared, best)
    with replacing(path) as unfinished:
        if path.suffix.lower() != ".html":
            figure.savefig(unfinished, dpi=150)
            return
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg")
        svg = drawn.getvalue()
        page = PAGE.format(reason=escape(best.reason), table=compared._repr_html_(), picture=svg[svg.index("<svg") :])
        unfinished.write_text(page, encoding="utf-8")


def _draw_figure(compared: Comparison, best: Recommendation) -> Any:
    matplotlib_or_error()
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(8, 8), layout="constrained")
    above, below = figure.subplots(2, 1)
    plot.densities(best.mechanism, _choose_truths(compared), axes=above)
    plot.errors(*_choose_rivals(compared, best), axes=below)
    return figure


def _choose_rivals(compared: Comparison, best: Recommendation) -> list[Any]:
    """Return the best mechanism and others that keep epsilon in range, one of each that err alike."""
    rivals, seen = [best.mechanism], {f"{best.error:.3g}"}
    for row in compared.rows:
        if row.eligible and row.mechanism is not None and f"{row.mean_error:.3g}" not in seen:
            seen.add(f"{row.mean_error:.3g}")
            rivals.append(row.mechanism)
    return rivals[:RIVALS]


def _choose_truths(compared: Comparison) -> list[Any]:
    """Return two true answers to show: the least of those looked at, and one in the middle."""
    bounds = compared.bounds
    low, high = (bounds.low, bounds.high) if compared.window is None else compared.window
    first: Any = low
    return [first, first + (high - first) / 2]
