"""What stands beside the numbers: everything that readers have to know, and nothing that only analysts can do."""

from __future__ import annotations

from dataclasses import replace

from inbounds.publish.destinations.facts import ADVICE_TO_ANALYSTS, describe_sheet, notes_of
from inbounds.query.methods.contribution_bound import ADVICE, IN_FORCE, NOT_IN_NOISE, WHERE_EXPLAINED
from inbounds.results.nothing_learnt import TOO_FEW_ROWS
from tests.helpers.published_reports import PRACTICE, YEAR


def test_readers_are_told_what_they_can_use() -> None:
    """Caveats stay; what an analyst could have done, and where that is explained, is left out."""
    limit = f"{IN_FORCE}at most 4 rows. {NOT_IN_NOISE} ({WHERE_EXPLAINED}). {ADVICE}"
    table = YEAR.tables[2]
    notes = notes_of(replace(table, answer=replace(table.answer, row_limit=limit)))
    assert f"{IN_FORCE}at most 4 rows. {NOT_IN_NOISE}." in notes
    assert TOO_FEW_ROWS.endswith(ADVICE_TO_ANALYSTS[-1])
    assert TOO_FEW_ROWS.removesuffix(ADVICE_TO_ANALYSTS[-1]) in notes
    assert table.answer.caveat in notes
    said = "MEDIAN(age): no interval in values without other quantiles around it"
    remarks = (f"{said}; ask for COUNT(age), QUANTILES(age, 0.4, 0.5, 0.6).",)
    assert f"{said}." in notes_of(replace(table, answer=replace(table.answer, remarks=remarks)))


def test_a_comment_says_where_a_table_is_from() -> None:
    """The comment on a table has its cost, whose privacy is protected, and the digests; practice comes first."""
    comment = describe_sheet(YEAR, YEAR.tables[0])
    for fact in ("epsilon 1/3, for each patient", "95 %", YEAR.digest, YEAR.contract, YEAR.ledger_head, YEAR.published):
        assert fact in comment
    assert describe_sheet(PRACTICE, YEAR.tables[0]).startswith("PRACTICE: ")
