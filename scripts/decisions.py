"""For the site: the folder of decisions becomes one closed entry of the navigation, and a new record needs no entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_FOLDER = "decisions/"


def on_config(config: Any, **_: Any) -> Any:
    """Put the records, by their headings, in the place of their folder."""
    documents = Path(config.docs_dir)
    records = sorted((documents / _FOLDER).glob("*.md"))
    listed = [{_heading(record): record.relative_to(documents).as_posix()} for record in records]
    for section in config.nav:
        for entries in section.values():
            if isinstance(entries, list):
                entries[:] = [{name: listed} if path == _FOLDER else {name: path} for name, path in map(_only, entries)]
    return config


def _only(entry: dict[str, Any]) -> tuple[str, Any]:
    return next(iter(entry.items()))


def _heading(record: Path) -> str:
    return record.read_text("utf-8").partition("\n")[0].removeprefix("# ").replace("`", "")
