"""What a custodian sees of the real table, on 80 columns, under a warning that cannot be overlooked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inbounds.display.facts import FactSheet
from inbounds.display.table import Column, TextTable
from inbounds.display.text import WIDTH

if TYPE_CHECKING:
    from inbounds.query.custodian.figures import KeysFound, MadeFound, UnitsFound, WithinFound
    from inbounds.query.custodian.inspection import Inspection

LARGE = "F O R   T H E   C U S T O D I A N ' S   E Y E S   O N L Y"

WARNING = (
    LARGE,
    "",
    "True figures from the real table, without noise. Show them to nobody, and",
    "store no copy where others can read it. Nothing was charged or recorded.",
)

MOST_WRONG = 20
"""So many known numbers that are not so are shown."""

ADVICE = (
    "Your changes to the contract become public with it. Make them for reasons that would hold for any table of this "
    "kind, and choose round numbers: bounds, categories and limits read off this table reveal something about it."
)


def inspection_text(found: Inspection, contract: str) -> str:
    """Return everything that was found, for a terminal."""
    parts = [part for one in (found, *found.others) for part in _parts(one, contract)]
    return "\n\n".join([_banner(), *parts, str(FactSheet([("advice", ADVICE)]))])


def _banner() -> str:
    edge = "#" * WIDTH
    inside = [f"##{line:^{WIDTH - 4}}##" for line in ("", *WARNING, "")]
    return "\n".join([edge, *inside, edge])


def _parts(found: Inspection, contract: str) -> Iterator[str]:
    yield str(FactSheet(list(_facts(found, contract))))
    if found.hardly_read:
        yield str(_hardly_read(found))
    if found.hardly_keys:
        yield str(_hardly_keys(found))
    if found.misfits:
        yield str(FactSheet([(name, why) for name, why in found.misfits.items()], title="TYPES THAT DO NOT MATCH"))
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


def _hardly_read(found: Inspection) -> TextTable:
    columns = [Column("!", left=True), Column("column", left=True), Column("values"), Column("not parsed")]
    columns.append(Column("share"))
    cells = [
        ["!!!", one.column or "(whole lines)", f"{one.values:,}", f"{one.unread:,}", _share(one.unread, one.values)]
        for one in found.hardly_read
    ]
    typed = "Their type is not the contract's: change the contract, or convert the table."
    how = "State how they are written: decimal, thousands, date_format, encoding, delimiter."
    notes = ["Answers leave them out but cost just as much.", typed if found.lines is None else how]
    return TextTable(columns, cells, title="W A R N I N G :   V A L U E S   N O T   P A R S E D", notes=notes)


def _hardly_keys(found: Inspection) -> TextTable:
    columns = [Column("!", left=True), Column("column", left=True), Column("values"), Column("not listed")]
    columns.append(Column("share"))
    cells = [
        ["!!!", one.column, f"{one.values:,}", f"{one.others:,}", _share(one.others, one.values)]
        for one in found.hardly_keys
    ]
    notes = [
        "Their rows are in no group. If that is not intended, check the spelling of the",
        "categories and the encoding. --values shows the values found.",
    ]
    return TextTable(columns, cells, title="W A R N I N G :   V A L U E S   N O T   I N   T H E   L I S T", notes=notes)


def _made(made: tuple[MadeFound, ...]) -> TextTable:
    columns = [Column("column", left=True), Column("rows missing"), Column("categories"), Column("unused")]
    cells = [[one.column, *(_figure(figure) for figure in (one.missing, one.keys, one.unused))] for one in made]
    return TextTable(columns, cells, title="DERIVED COLUMNS")


def _within(found: tuple[WithinFound, ...]) -> TextTable:
    columns = [Column("column", left=True), Column("within", left=True), Column("elsewhere"), Column("nowhere")]
    cells = [[one.column, one.within, f"{one.elsewhere:,}", f"{one.nowhere:,}"] for one in found]
    notes = [
        "Elsewhere: the row's outer category is not the one in the map. Nowhere: it has none.",
        "Tables that add up count them where the map says; other answers leave them out.",
    ]
    return TextTable(columns, cells, title="CATEGORIES WITHIN CATEGORIES: number of rows", notes=notes)


def _known(found: Inspection) -> TextTable:
    wrong = [one for one in found.known if not one.agrees]
    columns = [Column("public row count", left=True), Column("in the contract"), Column("in the table")]
    cells = [[one.of or "all", f"{one.said:,}", f"{one.rows:,}"] for one in wrong[:MOST_WRONG]]
    left = len(wrong) - len(cells)
    notes = [f"and {left:,} more"] if left else []
    return TextTable(columns, cells, title="PUBLIC ROW COUNTS THAT ARE WRONG", notes=notes)


def _facts(found: Inspection, contract: str) -> Iterator[tuple[str, str]]:
    if found.table == found.dataset:
        yield "contract", f"{contract}, dataset {found.dataset}"
    else:
        yield "table", f"{found.table}, of dataset {found.dataset}"
    yield "rows", f"{found.rows:,}"
    if found.lines is not None:
        yield "malformed lines", _of(found.lines, found.lines + found.rows)
    yield from _unit_facts(found)
    if found.known:
        agree = sum(one.agrees for one in found.known)
        yield "public row counts", f"{agree:,} of {len(found.known):,} are correct"
    yield "query time", _time(found.seconds)


def _unit_facts(found: Inspection) -> Iterator[tuple[str, str]]:
    units = found.units
    if units is None:
        return
    yield "units", f"{units.units:,} distinct values of {units.column}"
    if found.public_units is not None and found.public_units != units.units:
        yield "units in the contract", f"{found.public_units:,}, which is wrong"
    never = "; never counted" if units.rows_without else ""
    yield "rows without a unit", _of(units.rows_without, found.rows) + never
    yield "most rows per unit", f"{units.most:,}"
    own = units.limit
    over = f"{_of(own.rows, units.rows, 'rows')} of {_of(own.units, units.units, 'units')} exceed it"
    yield "row limit", f"{own.limit:,}: {over if own.rows else 'no unit exceeds it'}"


def _limits(units: UnitsFound) -> TextTable:
    columns = [
        Column("limit", left=True),
        Column("rows over"),
        Column("share"),
        Column("units over"),
        Column("share"),
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
    return TextTable(columns, cells, title="OTHER ROW LIMITS, for a query over all rows")


def _numbers(found: Inspection) -> TextTable:
    has_unread = found.lines is not None or any(one.unread for one in found.numbers)
    columns = [Column("column", left=True), Column("bounds", left=True), Column("missing"), Column("below")]
    columns += [Column("above"), Column("in gaps")]
    cells = [
        [one.column, one.bounds, *map(_count, (one.missing, one.below, one.above, one.in_gaps))]
        for one in found.numbers
    ]
    if has_unread:
        columns.append(Column("unparsed"))
        cells = [[*row, _count(one.unread)] for row, one in zip(cells, found.numbers, strict=True)]
    notes = ["Below and above: clamped to the nearest bound. In gaps: kept as they are."]
    notes += ["Unparsed: not readable as a number or date; treated as missing."] if has_unread else []
    return TextTable(columns, cells, title="NUMBERS AND DATES: number of rows", notes=notes)


def _keys(found: Inspection) -> TextTable:
    columns = [
        Column("column", left=True),
        Column("categories"),
        Column("unused"),
        Column("rows missing"),
        Column("rows in no group"),
        Column("values not listed"),
    ]
    cells = [
        [one.column, *map(_count, (one.keys, one.unused, one.missing, one.rows, one.others))] for one in found.keys
    ]
    hidden = any(one.others and one.values is None for one in found.keys)
    notes = ["--values shows the values not in the category list."] if hidden else []
    return TextTable(columns, cells, title="CATEGORIES", notes=notes)


def _values(one: KeysFound) -> TextTable:
    assert one.values is not None
    cells = [[str(value), f"{rows:,}"] for value, rows in one.values]
    left = one.others - len(cells)
    notes = [f"and {left:,} less frequent ones"] if left > 0 else []
    return TextTable(
        [Column("value", left=True), Column("rows")],
        cells,
        title=f"VALUES OF {one.column} NOT IN THE CATEGORY LIST",
        notes=notes,
    )


def _figure(figure: int | None) -> str:
    return "" if figure is None else f"{figure:,}"


def _count(figure: int | None) -> str:
    return "not counted" if figure is None else f"{figure:,}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not measured until all types match"
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
