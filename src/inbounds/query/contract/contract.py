"""The custodian's contract: one TOML file that says what a person is, what is possible and how much may be spent.

Every complaint names the line.  `tomllib` keeps no line numbers, so headers and keys are looked up in the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inbounds.display.suggestion import find_nearest
from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown

HEADER = re.compile(r"\s*\[\s*([^\[\]\s][^\[\]]*)\]\s*(#.*)?$")
KEY = re.compile(r"\s*([\w.\-]+|\"[^\"]*\"|'[^']*')\s*=")


@dataclass(frozen=True)
class Contract:
    """A parsed contract, and where each of its keys stands."""

    name: str
    """What the file is called in messages."""
    text: str
    content: Mapping[str, Any]
    folder: Path
    """What relative paths in it are relative to."""
    stem: str | None = None
    """The file's name without its ending, if it is a file."""
    at: tuple[str, ...] = ()
    """Where this part of it stands, if it is the description of one of several tables."""

    @classmethod
    def load(cls, path: str | Path) -> Contract:
        """Read a contract from a file."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
            raise InvalidContract(f"cannot read the contract {file}: {why}; give the path of a TOML file") from None
        return cls.parse(text, name=file.name, folder=file.resolve().parent, stem=file.stem)

    @classmethod
    def parse(
        cls, text: str, *, name: str = "contract", folder: Path | None = None, stem: str | None = None
    ) -> Contract:
        """Read a contract from its text."""
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise InvalidContract(f"{name}: not TOML: {problem}; correct it there, and put text in quotes") from None
        except ValueError:  # in the words of Python, which are about Python
            raise InvalidContract(f"{name}: a number has thousands of digits; write one that fits a line") from None
        except RecursionError:
            raise InvalidContract(
                f"{name}: lists or tables are nested hundreds deep; write each table under a header of its own"
            ) from None
        return cls(name, text, content, folder or Path.cwd(), stem)

    def part(self, *at: str) -> Contract:
        """Return the description of one of several tables as a contract: its own keys as those of [dataset]."""
        own = self.table(*at)
        if isinstance(own.get("dataset"), Mapping):  # which would stand in for all that is said of the table itself
            raise self.refuse(
                f"unknown key 'dataset' in {self._header(at)}; write its keys right under that", *at, "dataset"
            )
        dataset = {key: value for key, value in own.items() if not isinstance(value, Mapping)}
        others = {key: value for key, value in own.items() if isinstance(value, Mapping)}
        return replace(self, content={"dataset": dataset, **others}, at=at)

    def _whole(self, path: Sequence[str]) -> tuple[str, ...]:
        """Return where something stands in the file."""
        if not self.at:
            return tuple(path)
        return self.at + tuple(path[1:] if path and path[0] == "dataset" else path)

    def line(self, *path: str) -> int:
        """Return the line of a table or of a key in it, or of the nearest table around it that is there."""
        lines, path = self._lines(), self._whole(path)
        for length in range(len(path), 0, -1):
            if path[:length] in lines:
                return lines[path[:length]]
        return 1

    def _lines(self) -> dict[tuple[str, ...], int]:
        # A scan for headers and keys, not a parser: tomllib has read the text already, so it is well formed.
        lines: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        in_text = False  # between """ and """: there a line that looks like a key is none
        for number, line in enumerate(self.text.split("\n"), 1):
            was_in_text, in_text = in_text, in_text ^ bool((line.count('"""') + line.count("'''")) % 2)
            if was_in_text:
                continue
            if header := HEADER.match(line):
                table = dotted(header[1])
                for length in range(1, len(table) + 1):  # [a.b] begins [a] too, if nothing did before
                    lines.setdefault(table[:length], number)
            elif key := KEY.match(line):
                lines.setdefault(table + dotted(key[1]), number)
        return lines

    def refuse(self, message: str, *path: str) -> InvalidContract:
        """Return an error that points at a key."""
        fault = InvalidContract(f"{self.name}, line {self.line(*path)}: {message}")
        fault.path = self._whole(path)
        return fault

    def table(self, *path: str) -> Mapping[str, Any]:
        """Return a table that must be there."""
        value: Any = self.content
        for depth, part in enumerate(path):
            if not isinstance(value, Mapping) or part not in value:
                raise self.refuse(f"{self._header(path)} is missing; add it", *path[: depth + 1])
            value = value[part]
        if not isinstance(value, Mapping):
            name = self._header(path)
            raise self.refuse(f"{name[1:-1]} must be a table, got {shown(value)}; write {name}", *path)
        return value

    def _header(self, path: Sequence[str]) -> str:
        return f"[{'.'.join(self._whole(path))}]"

    def refuse_unknown(self, known: Iterable[str], *path: str) -> None:
        """Refuse keys that mean nothing, so that a misspelt one is not passed over."""
        table = self.table(*path) if path else self.content
        names = tuple(known)
        for key in table:
            if key not in names:
                where = self._header(path) if path or self.at else "this file"
                near = find_nearest(key, names)
                remedy = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names)}"
                fault = self.refuse(f"unknown key {key!r} in {where}; {remedy}", *path, key)
                fault.meant = near[0] if near else None
                raise fault

    def text_of(self, *path: str) -> str:
        """Return a non-empty text that must be there."""
        value = self.value(*path)
        if isinstance(value, str) and not value.strip():
            raise self.refuse(f"{path[-1]} must be a text, got an empty one; write it between the quotes", *path)
        if not isinstance(value, str):
            raise self.refuse(f"{path[-1]} must be a text, got {shown(value)}; write it in quotes", *path)
        return value

    def whole_of(self, *path: str) -> int:
        """Return an integer from 1 on that must be there."""
        value = self.value(*path)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.refuse(
                f"{path[-1]} must be a whole number from 1 on, got {shown(value)}; write it like 4", *path
            )
        return value

    def value(self, *path: str) -> Any:
        """Return a value that must be there."""
        table = self.table(*path[:-1])
        if path[-1] not in table:
            raise self.refuse(f"{path[-1]} is missing in {self._header(path[:-1])}; add it", *path)
        return table[path[-1]]

    def has_table(self, *path: str) -> bool:
        """Return whether a table of its own is there."""
        return self.has(*path) and isinstance(self.value(*path) if path else self.content, Mapping)

    def has(self, *path: str) -> bool:
        """Return whether a key is there."""
        value: Any = self.content
        for part in path:
            if not isinstance(value, Mapping) or part not in value:
                return False
            value = value[part]
        return True


def dotted(text: str) -> tuple[str, ...]:
    """Return the names in a header or a key."""
    parts = re.findall(r"\"([^\"]*)\"|'([^']*)'|([\w\-]+)", text)
    return tuple(first or second or third for first, second, third in parts)
