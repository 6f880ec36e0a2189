"""What a custodian sees of the real table, on 80 columns, under a warning that cannot be overlooked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inbounds.display.facts import FactSheet
from inbounds.display.table import Column, TextTable
from inbounds.display.text import WIDTH

if TYPE_CHECKING:
    from inbounds.query.custodian.figures import (
        DerivedFigures,
        KeyFigures,
        KeysFigures,
        PublicFigures,
        ReferenceFigures,
        UnitsFigures,
        WithinFigures,
    )
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


def inspection_text(inspection: Inspection, contract: str) -> str:
    """Return everything that was found, for a terminal."""
    parts = [part for table in (inspection, *inspection.others) for part in _parts(table, contract)]
    if inspection.public:
        parts.append(str(_public(inspection.public)))
    unlinked = [table for table in (inspection, *inspection.others) if table.unlinked]
    if unlinked:
        parts.insert(0, str(_unlinked(unlinked)))
    return "\n\n".join([_banner(), *parts, str(FactSheet([("advice", ADVICE)]))])


def _banner() -> str:
    edge = "#" * WIDTH
    inside = [f"##{line:^{WIDTH - 4}}##" for line in ("", *WARNING, "")]
    return "\n".join([edge, *inside, edge])


def _parts(inspection: Inspection, contract: str) -> Iterator[str]:
    yield str(FactSheet(list(_facts(inspection, contract))))
    if inspection.hardly_read:
        yield str(_hardly_read(inspection))
    if inspection.hardly_keys:
        yield str(_hardly_keys(inspection))
    if inspection.key is not None and inspection.key.repeated:
        yield str(_repeated(inspection.key))
    if inspection.misfits:
        yield str(FactSheet([(name, why) for name, why in inspection.misfits.items()], title="TYPES THAT DO NOT MATCH"))
    if inspection.units is not None:
        yield str(_limits(inspection.units))
    if inspection.numbers:
        yield str(_numbers(inspection))
    if inspection.keys:
        yield str(_keys(inspection))
    for keys in inspection.keys:
        if keys.values:
            yield str(_values(keys))
    if inspection.made:
        yield str(_derived(inspection.made))
    if inspection.within:
        yield str(_within(inspection.within))
    if any(not fact.agrees for fact in inspection.known):
        yield str(_known(inspection))


def _public(tables: tuple[PublicFigures, ...]) -> TextTable:
    columns = _columns("table", "key", "rows", "columns", "to match by", "digest", left=2)
    cells = [
        [
            public.table,
            ", ".join(public.key) or "none",
            *map(_count, (public.rows, public.columns, public.identifiers)),
            public.digest,
        ]
        for public in tables
    ]
    notes = [
        "Columns: described by the contract or by what they hold. To match by: too many",
        "values to be listed. The digest is part of the terms: it changes with the table.",
    ]
    return TextTable(columns, cells, title="PUBLIC TABLES: not protected", notes=notes)


def _unlinked(tables: list[Inspection]) -> TextTable:
    cells = [["!!!", table.table, name] for table in tables for name in table.unlinked]
    notes = [
        "Rows cannot be told apart or followed to their unit, so every query about these",
        "tables is refused. Correct key, on or unit in the contract; why is told below.",
    ]
    title = "W A R N I N G :   K E Y S   T H A T   A R E   N O T   T H E R E"
    return TextTable(_columns("!", "table", "column", left=3), cells, title=title, notes=notes)


def _hardly_read(inspection: Inspection) -> TextTable:
    rows = [(unread.column or "(whole lines)", unread.values, unread.unread) for unread in inspection.hardly_read]
    typed = "Their type is not the contract's: change the contract, or convert the table."
    how = "State how they are written: decimal, thousands, date_format, encoding, delimiter."
    notes = ["Answers leave them out but cost just as much.", typed if inspection.lines is None else how]
    return _warning("W A R N I N G :   V A L U E S   N O T   P A R S E D", "not parsed", rows, notes)


def _repeated(key: KeyFigures) -> TextTable:
    shared = "not counted" if key.shared is None else f"{key.shared:,}"
    cells = [["!!!", ", ".join(key.columns), f"{key.repeated:,}", f"{key.rows:,}", shared]]
    notes = [
        "The contract says that each value is in one row. A row of another table that",
        "refers to such a value belongs to the units of all rows that have it.",
    ]
    columns = _columns("!", "key", "values", "rows", "values of several units", left=2)
    return TextTable(columns, cells, title="W A R N I N G :   A   K E Y   T H A T   R E P E A T S", notes=notes)


def _hardly_keys(inspection: Inspection) -> TextTable:
    rows = [(no_keys.column, no_keys.values, no_keys.others) for no_keys in inspection.hardly_keys]
    notes = [
        "Their rows are in no group. If that is not intended, check the spelling of the",
        "categories and the encoding. --values shows the values found.",
    ]
    return _warning("W A R N I N G :   V A L U E S   N O T   I N   T H E   L I S T", "not listed", rows, notes)


def _warning(title: str, what: str, rows: list[tuple[str, int, int]], notes: list[str]) -> TextTable:
    """Return a table of columns, how many values each has, and how many of these are wrong."""
    columns = _columns("!", "column", "values", what, "share", left=2)
    cells = [["!!!", name, f"{values:,}", f"{wrong:,}", format_share(wrong, values)] for name, values, wrong in rows]
    return TextTable(columns, cells, title=title, notes=notes)


def _derived(derived: tuple[DerivedFigures, ...]) -> TextTable:
    columns = _columns("column", "rows missing", "categories", "unused")
    cells = [[column.column, *map(_figure, (column.missing, column.keys, column.unused))] for column in derived]
    return TextTable(columns, cells, title="DERIVED COLUMNS")


def _within(within: tuple[WithinFigures, ...]) -> TextTable:
    columns = _columns("column", "within", "elsewhere", "nowhere", left=2)
    cells = [[figures.column, figures.within, f"{figures.elsewhere:,}", f"{figures.nowhere:,}"] for figures in within]
    notes = [
        "Elsewhere: the row's outer category is not the one in the map. Nowhere: it has none.",
        "Tables that add up count them where the map says; other answers leave them out.",
    ]
    return TextTable(columns, cells, title="CATEGORIES WITHIN CATEGORIES: number of rows", notes=notes)


def _known(inspection: Inspection) -> TextTable:
    wrong = [fact for fact in inspection.known if not fact.agrees]
    columns = _columns("public count", "in the contract", "in the table")
    cells = [
        [fact.of or "all", f"{'at most ' if fact.at_most else ''}{fact.said:,}", f"{fact.rows:,}"]
        for fact in wrong[:MOST_WRONG]
    ]
    left = len(wrong) - len(cells)
    notes = [f"and {left:,} more"] if left else []
    return TextTable(columns, cells, title="PUBLIC COUNTS THAT ARE WRONG", notes=notes)


def _facts(inspection: Inspection, contract: str) -> Iterator[tuple[str, str]]:
    if inspection.table == inspection.dataset:
        yield "contract", f"{contract}, dataset {inspection.dataset}"
    else:
        yield "table", f"{inspection.table}, of dataset {inspection.dataset}"
    yield "rows", f"{inspection.rows:,}"
    if inspection.lines is not None:
        yield "malformed lines", _of(inspection.lines, inspection.lines + inspection.rows)
    if inspection.key is not None:
        yield "key", _key(inspection.key)
    yield from _unit_facts(inspection)
    if inspection.known:
        agree = sum(fact.agrees for fact in inspection.known)
        yield "public counts", f"{agree:,} of {len(inspection.known):,} are correct"
    yield "query time", _time(inspection.seconds)
    if inspection.adding_up is not None:
        yield "budget", inspection.adding_up


def _unit_facts(inspection: Inspection) -> Iterator[tuple[str, str]]:
    units = inspection.units
    if units is None:
        return
    reference = inspection.reference
    through = "" if reference is None else f", through {reference.table}"
    yield "units", f"{units.units:,} distinct values of {units.column}{through}"
    if inspection.public_units is not None and inspection.public_units != units.units:
        yield "units in the contract", f"{inspection.public_units:,}, which is wrong"
    never = "; never counted" if units.rows_without else ""
    yield "rows without a unit", _of(units.rows_without, inspection.rows) + never
    if reference is not None:
        yield from _reference_facts(reference, inspection.rows)
    yield "most rows per unit", f"{units.most:,}"
    own = units.limit
    exceed = "exceeds" if own.rows == 1 else "exceed"
    over = f"{_of(own.rows, units.rows, 'row')} of {_of(own.units, units.units, 'unit')} {exceed} it"
    yield "row limit", f"{own.limit:,}: {over if own.rows else 'no unit exceeds it'}"


def _key(key: KeyFigures) -> str:
    """Say whether a key tells rows apart."""
    facts = [f"{_of_many(key.repeated, 'value')} in {key.rows:,} rows repeat" if key.repeated else "no value repeats"]
    if key.missing:
        facts.append(f"missing in {_of_many(key.missing, 'row')}")
    if key.declared is not None:
        facts.append("declared unique" if key.declared else "not declared unique")
    return f"{', '.join(key.columns)}: {'; '.join(facts)}"


def _reference_facts(reference: ReferenceFigures, rows: int) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the references of rows to the table that they belong to."""
    own, of = (" and ".join(pair[place] for pair in reference.on) for place in (0, 1))
    if reference.missing:
        yield "  without reference", f"{_of(reference.missing, rows)}: no {own}"
    if reference.unmatched:
        yield "  not found", f"{_of(reference.unmatched, rows)}: no row with a unit in {reference.table}"
    if reference.several:
        yield (
            "rows of several units",
            f"{_of(reference.several, rows)}: {of} repeats in {reference.table}; counted for each unit",
        )


def _limits(units: UnitsFigures) -> TextTable:
    columns = _columns("limit", "rows over", "share", "units over", "share", "noise")
    rows = units.rows
    cells = [
        (
            f"{figures.limit:,}" + (" (now)" if figures.limit == units.limit.limit else ""),
            f"{figures.rows:,}",
            format_share(figures.rows, rows),
            f"{figures.units:,}",
            format_share(figures.units, units.units),
            f"x {_times(figures.limit / units.limit.limit)}",
        )
        for figures in units.others
    ]
    return TextTable(columns, cells, title="OTHER ROW LIMITS, for a query over all rows")


def _numbers(inspection: Inspection) -> TextTable:
    has_unread = inspection.lines is not None or any(figures.unread for figures in inspection.numbers)
    columns = _columns("column", "bounds", "missing", "below", "above", "in gaps", left=2)
    cells = [
        [figures.column, figures.bounds, *map(_count, (figures.missing, figures.below, figures.above, figures.in_gaps))]
        for figures in inspection.numbers
    ]
    if has_unread:
        columns.append(Column("unparsed"))
        cells = [[*row, _count(figures.unread)] for row, figures in zip(cells, inspection.numbers, strict=True)]
    notes = ["Below and above: clamped to the nearest bound. In gaps: kept as they are."]
    notes += ["Unparsed: not readable as a number or date; treated as missing."] if has_unread else []
    return TextTable(columns, cells, title="NUMBERS AND DATES: number of rows", notes=notes)


def _keys(inspection: Inspection) -> TextTable:
    columns = _columns("column", "categories", "unused", "rows missing", "rows in no group", "values not listed")
    cells = [
        [figures.column, *map(_count, (figures.keys, figures.unused, figures.missing, figures.rows, figures.others))]
        for figures in inspection.keys
    ]
    hidden = any(figures.others and figures.values is None for figures in inspection.keys)
    notes = ["--values shows the values not in the category list."] if hidden else []
    return TextTable(columns, cells, title="CATEGORIES", notes=notes)


def _values(keys: KeysFigures) -> TextTable:
    assert keys.values is not None
    cells = [[str(value), f"{rows:,}"] for value, rows in keys.values]
    left = keys.others - len(cells)
    notes = [f"and {left:,} less frequent ones"] if left > 0 else []
    return TextTable(
        _columns("value", "rows"), cells, title=f"VALUES OF {keys.column} NOT IN THE CATEGORY LIST", notes=notes
    )


def _columns(*names: str, left: int = 1) -> list[Column]:
    """Return the columns of a table; the first ones hold text."""
    return [Column(name, left=place < left) for place, name in enumerate(names)]


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


def _of(part: int, whole: int, what: str = "") -> str:
    amount = _of_many(part, what) if what else f"{part:,}"
    return f"{amount} ({format_share(part, whole)})" if part else amount


def _of_many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def format_share(part: int, whole: int) -> str:
    """Return a part in per cent; what is not nothing does not look like it."""
    if not part:
        return "0 %"
    share = 100 * part / whole
    return "< 0.1 %" if share < 0.1 else "> 99.9 %" if 99.9 < share < 100 else f"{share:.1f} %"
