"""What a custodian sees of the real table, on 80 columns, under a warning that cannot be overlooked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inbounds.display.facts import Facts
from inbounds.display.table import Column, Table
from inbounds.display.text import WIDTH

if TYPE_CHECKING:
    from inbounds.query.custodian.figures import KeysFound, MadeFound, UnitsFound, WithinFound
    from inbounds.query.custodian.inspection import Inspection

LARGE = "F O R   T H E   C U S T O D I A N ' S   E Y E S   O N L Y"

WARNING = (
    LARGE,
    "",
    "True figures of the real table, without any noise. Show them to nobody,",
    "and keep no copy where others read. Nothing was charged or recorded.",
)

MOST_WRONG = 20
"""So many known numbers that are not so are shown."""

ADVICE = (
    "What you change in the contract becomes public with it. Change it for reasons that would hold for another table "
    "of the same kind, and take round numbers: bounds, keys and limits that are read off this table tell about it."
)


def inspection_text(found: Inspection, contract: str) -> str:
    """Return everything that was found, for a terminal."""
    parts = [part for one in (found, *found.others) for part in _parts(one, contract)]
    return "\n\n".join([_banner(), *parts, str(Facts([("advice", ADVICE)]))])


def _banner() -> str:
    edge = "#" * WIDTH
    inside = [f"##{line:^{WIDTH - 4}}##" for line in ("", *WARNING, "")]
    return "\n".join([edge, *inside, edge])


def _parts(found: Inspection, contract: str) -> Iterator[str]:
    yield str(Facts(list(_facts(found, contract))))
    if found.hardly_read:
        yield str(_hardly_read(found))
    if found.hardly_keys:
        yield str(_hardly_keys(found))
    if found.misfits:
        yield str(Facts([(name, why) for name, why in found.misfits.items()], title="TYPES THAT DO NOT FIT"))
    if found.units is not None:
        yield str(_limits(found.units))
    if found.numbers:
        yield str(_numbers(found))
    if found.keys:
        yield str(_keys(found))
    for one in found.keys:
        if one.values:
            yield str(_values(one))
    if found.made:
        yield str(_made(found.made))
    if found.within:
        yield str(_within(found.within))
    if any(not one.agrees for one in found.known):
        yield str(_known(found))


def _hardly_read(found: Inspection) -> Table:
    columns = [Column("!", left=True), Column("column", left=True), Column("values there"), Column("not read")]
    columns.append(Column("of values"))
    cells = [
        ["!!!", one.column or "(whole lines)", f"{one.values:,}", f"{one.unread:,}", _share(one.unread, one.values)]
        for one in found.hardly_read
    ]
    typed = "They are not of the kind that the contract says: change it, or convert the table."
    how = "How are they written? Say so: decimal, thousands, date_format, encoding, delimiter."
    notes = ["Answers leave them out, and cost as much as if they were read.", typed if found.lines is None else how]
    return Table(columns, cells, title="W A R N I N G :   V A L U E S   T H A T   A R E   N O T   R E A D", notes=notes)


def _hardly_keys(found: Inspection) -> Table:
    columns = [Column("!", left=True), Column("column", left=True), Column("values there"), Column("no key")]
    columns.append(Column("of values"))
    cells = [
        ["!!!", one.column, f"{one.values:,}", f"{one.others:,}", _share(one.others, one.values)]
        for one in found.hardly_keys
    ]
    notes = [
        "Their rows are in no group. If that is not on purpose, are the keys written as in",
        "the table, and is the encoding the right one? --values shows what is there.",
    ]
    return Table(columns, cells, title="W A R N I N G :   V A L U E S   T H A T   A R E   N O   K E Y", notes=notes)


def _made(made: tuple[MadeFound, ...]) -> Table:
    columns = [Column("column", left=True), Column("rows missing"), Column("keys"), Column("without rows")]
    cells = [[one.column, *(_figure(figure) for figure in (one.missing, one.keys, one.unused))] for one in made]
    return Table(columns, cells, title="COLUMNS MADE OF COLUMNS")


def _within(found: tuple[WithinFound, ...]) -> Table:
    columns = [Column("column", left=True), Column("within", left=True), Column("elsewhere"), Column("nowhere")]
    cells = [[one.column, one.within, f"{one.elsewhere:,}", f"{one.nowhere:,}"] for one in found]
    notes = [
        "Elsewhere: the row has another key there than the map says. Nowhere: it has none there.",
        "Tables that add up count them where the map says, other answers by both columns not at all.",
    ]
    return Table(columns, cells, title="KEYS WITHIN KEYS: how many rows are", notes=notes)


def _known(found: Inspection) -> Table:
    wrong = [one for one in found.known if not one.agrees]
    columns = [Column("public number of rows", left=True), Column("in the contract"), Column("in the table")]
    cells = [[one.of or "all", f"{one.said:,}", f"{one.rows:,}"] for one in wrong[:MOST_WRONG]]
    left = len(wrong) - len(cells)
    notes = [f"and {left:,} others"] if left else []
    return Table(columns, cells, title="KNOWN NUMBERS THAT ARE NOT SO", notes=notes)


def _facts(found: Inspection, contract: str) -> Iterator[tuple[str, str]]:
    if found.table == found.dataset:
        yield "contract", f"{contract}, dataset {found.dataset}"
    else:
        yield "table", f"{found.table}, of dataset {found.dataset}"
    yield "rows", f"{found.rows:,}"
    if found.lines is not None:
        yield "lines that are no row", _of(found.lines, found.lines + found.rows)
    yield from _unit_facts(found)
    if found.known:
        agree = sum(one.agrees for one in found.known)
        yield "known numbers", f"{agree:,} of {len(found.known):,} are so"
    yield "a statement takes", _time(found.seconds)


def _unit_facts(found: Inspection) -> Iterator[tuple[str, str]]:
    units = found.units
    if units is None:
        return
    yield "units", f"{units.units:,} different values of {units.column}"
    if found.public_units is not None and found.public_units != units.units:
        yield "units in the contract", f"{found.public_units:,}, which is not so"
    never = "; they never count" if units.rows_without else ""
    yield "rows without a unit", _of(units.rows_without, found.rows) + never
    yield "most rows of a unit", f"{units.most:,}"
    own = units.limit
    cut = f"{_of(own.rows, units.rows, 'rows')}, of {_of(own.units, units.units, 'units')}"
    yield "the row limit", f"{own.limit:,} cuts {cut if own.rows else 'nothing'}"


def _limits(units: UnitsFound) -> Table:
    columns = [
        Column("limit", left=True),
        Column("rows cut"),
        Column("of rows"),
        Column("units cut"),
        Column("of units"),
        Column("noise"),
    ]
    rows = units.rows
    cells = [
        (
            f"{one.limit:,}" + (" (now)" if one.limit == units.limit.limit else ""),
            f"{one.rows:,}",
            _share(one.rows, rows),
            f"{one.units:,}",
            _share(one.units, units.units),
            f"x {_times(one.limit / units.limit.limit)}",
        )
        for one in units.others
    ]
    return Table(columns, cells, title="WHAT OTHER ROW LIMITS WOULD CUT, if a question is about all rows")


def _numbers(found: Inspection) -> Table:
    has_unread = found.lines is not None or any(one.unread for one in found.numbers)
    columns = [Column("column", left=True), Column("bounds", left=True), Column("missing"), Column("below")]
    columns += [Column("above"), Column("in gaps")]
    cells = [
        [one.column, one.bounds, *map(_count, (one.missing, one.below, one.above, one.in_gaps))]
        for one in found.numbers
    ]
    if has_unread:
        columns.append(Column("unread"))
        cells = [[*row, _count(one.unread)] for row, one in zip(cells, found.numbers, strict=True)]
    notes = ["Below and above: clipped to the nearest end. In gaps: counted where they are."]
    notes += ["Unread: values that are no number or day, and are among the missing."] if has_unread else []
    return Table(columns, cells, title="NUMBERS AND DAYS: how many rows are", notes=notes)


def _keys(found: Inspection) -> Table:
    columns = [
        Column("column", left=True),
        Column("keys"),
        Column("without rows"),
        Column("rows missing"),
        Column("rows in no group"),
        Column("other values"),
    ]
    cells = [
        [one.column, *map(_count, (one.keys, one.unused, one.missing, one.rows, one.others))] for one in found.keys
    ]
    hidden = any(one.others and one.values is None for one in found.keys)
    notes = ["--values shows the values that are no key."] if hidden else []
    return Table(columns, cells, title="KEYS", notes=notes)


def _values(one: KeysFound) -> Table:
    assert one.values is not None
    cells = [[str(value), f"{rows:,}"] for value, rows in one.values]
    left = one.others - len(cells)
    notes = [f"and {left:,} others, each with no more rows"] if left > 0 else []
    return Table([Column("value", left=True), Column("rows")], cells, title=f"NO KEYS OF {one.column}", notes=notes)


def _figure(figure: int | None) -> str:
    return "" if figure is None else f"{figure:,}"


def _count(figure: int | None) -> str:
    return "not counted" if figure is None else f"{figure:,}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not measured before all types fit"
    return ("less than 0.01 s" if seconds < 0.01 else f"{seconds:,.2f} s") + " for COUNT(*)"


def _times(factor: float) -> str:
    return f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"


def _of(part: int, all_of_them: int, what: str = "") -> str:
    named = f"{part:,} {what}".rstrip()
    return f"{named} ({_share(part, all_of_them)})" if part else named


def _share(part: int, all_of_them: int) -> str:
    """Return a part in per cent; what is not nothing does not look like it."""
    if not part:
        return "0 %"
    share = 100 * part / all_of_them
    return "< 0.1 %" if share < 0.1 else "> 99.9 %" if 99.9 < share < 100 else f"{share:.1f} %"
