"""All faults of a contract at once: each is put right in memory, so that reading goes on to the next.

What is put in place of a faulty value is never used: it only lets the rest be read.  A fault that may follow from an
earlier one, because it names a column or a table that had to be left out, is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from inbounds.errors import InvalidContract
from inbounds.query.contract.contract import Contract

TO_DECIDE = "# decide"
"""With this ends a line of a draft that is the custodian's to decide."""

MOST_FAULTS = 50
"""No more faults are looked for: each time the contract is read again."""

STAND_INS: dict[str, Any] = {"name": "dataset", "unit": "somebody", "max_rows_per_unit": 1, "total": 1000}
"""What is read on with in place of a value that must be there."""

SECTIONS: dict[str, dict[str, Any]] = {"budget": {"total": 1000}, "columns": {"something": {"keys": ["a"]}}}
"""What is read on with in place of a section that must be there."""

TOGETHER = {
    "belongs_to": ("belongs_to", "on"),
    "on": ("belongs_to", "on"),
    "delta": ("delta", "delta_reserved"),
    "refresh": ("refresh", "lifetime"),
}
"""Keys that mean nothing without each other."""

T = TypeVar("T")


def read_all(contract: Contract, read: Callable[[Contract], T]) -> T:
    """Return what `read` makes of a contract; if it refuses, tell all faults that do not follow from each other."""
    try:
        return read(contract)
    except InvalidContract as first:
        faults = dict.fromkeys(text for _, text in sorted(_find_faults(contract, read)))
        if len(faults) < 2:
            raise
        path = first.path
    begun = f"{contract.name} has {len(faults)} faults; correct each of them:"
    everything = InvalidContract("\n  ".join((begun, *faults)))
    everything.path, everything.faults = path, tuple(faults)
    raise everything


def _find_faults(contract: Contract, read: Callable[[Contract], object]) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with a contract, and in which line."""
    repair = _Repair(deepcopy(dict(contract.content)), contract.text)
    for _ in range(MOST_FAULTS):
        repaired = replace(contract, content=repair.content, text=repair.text)
        try:
            read(repaired)
        except InvalidContract as fault:
            line = repaired.line(*fault.path)
            if not repair.is_consequence(fault):
                yield line, describe_fault(repaired, fault, line)
            if not repair.mend(fault, line):
                return
        else:
            return


def describe_fault(contract: Contract, fault: InvalidContract, line: int) -> str:
    """Return what a fault says, after its line and its section, and whether that is still to be decided."""
    if not fault.path:
        return str(fault)
    said = str(fault).partition("\n")[0].removeprefix(f"{contract.name}, line {line}: ")
    is_open = contract.text.split("\n")[line - 1].rstrip().endswith(TO_DECIDE)
    section = fault.path if contract.has_table(*fault.path) else fault.path[:-1] or fault.path
    return f"line {line}, [{'.'.join(section)}]{', to decide' if is_open else ''}: {said}"


@dataclass
class _Repair:
    """The content of a contract without the faults that were found so far."""

    content: dict[str, Any]
    text: str
    dropped: set[str] = field(default_factory=set)
    """The columns and tables that were left out."""
    mended: set[tuple[str, ...]] = field(default_factory=set)
    """Where faults were put right."""
    seen: set[str] = field(default_factory=set)

    def is_consequence(self, fault: InvalidContract) -> bool:
        """Return whether a fault may follow from what was left out."""
        return fault.path in self.mended or any(repr(name) in str(fault) for name in self.dropped)

    def mend(self, fault: InvalidContract, line: int) -> bool:
        """Put one fault right; return False if that is not known how, or did not help."""
        path = fault.path
        if not path or str(fault) in self.seen:
            return False
        self.seen.add(str(fault))
        table = self._find(path[:-1])
        if table is not None and fault.meant is not None and fault.meant not in table:
            self._rename(table, path[-1], fault.meant, line)
            return True
        self.mended.add(path)
        if "columns" in path[:-1]:  # a column is left out as a whole
            path = path[: path.index("columns") + 2]
        elif path[0] == "tables" and (self._find(path[:2]) or {}).get("public"):  # and so is a public table
            path = path[:2]
        table = self._find(path[:-1])
        if table is None:
            return False
        self._replace(table, path)
        return True

    def _rename(self, table: MutableMapping[str, Any], key: str, meant: str, line: int) -> None:
        """Give a misspelt key the name that was meant, also in the text, by which the lines of faults are found."""
        table[meant] = table.pop(key)
        lines = self.text.split("\n")
        lines[line - 1] = lines[line - 1].replace(key, meant, 1)
        self.text = "\n".join(lines)

    def _find(self, path: tuple[str, ...]) -> MutableMapping[str, Any] | None:
        """Return the table of a path, if it is there."""
        value: Any = self.content
        for name in path:
            value = value.get(name) if isinstance(value, MutableMapping) else None
        return value if isinstance(value, MutableMapping) else None

    def _replace(self, table: MutableMapping[str, Any], path: tuple[str, ...]) -> None:
        key = path[-1]
        if len(path) == 1 and key in SECTIONS:
            table[key] = deepcopy(SECTIONS[key])
        elif path[-2:-1] in (("columns",), ("tables",)):
            self.dropped.add(key)
            table.pop(key, None)
        elif key in STAND_INS:
            table[key] = STAND_INS[key]
        else:
            for name in TOGETHER.get(key, (key,)):
                table.pop(name, None)
            if key in ("belongs_to", "on"):
                table.setdefault("unit", STAND_INS["unit"])
