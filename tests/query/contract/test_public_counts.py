"""Public facts: tables agree with them exactly, and facts that cannot all be true are refused with the contract."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InboundsError, InvalidContract
from inbounds.query import Dataset
from inbounds.query.contract.public_counts import Known
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, TYPES, rows_of, sums_that_differ

KNOWN = """
[known]
total = 90
zeros = [{ region = "land", sex = "m" }, { district = "harbour", region = "land" }]
[known.by.region]
land = 30
[known.by.sex]
f = 50
"""


def facts(known: str, *, unit: str = "row", units: int | None = None) -> str:
    """Return a contract with public facts."""
    return contract(COLUMNS + known, unit=unit, limit=3, units=units)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(10)])
@pytest.mark.parametrize(
    "text",
    ["CUBE(region, sex)", "CUBE(district, sex)", "ROLLUP(region, district, street)", "street, sex"]
)  # fmt: skip
def test_facts_hold_exactly(tmp_path: Path, text: str, epsilon: Fraction) -> None:
    """Whatever is measured, known totals and empty combinations are as known, also of columns above those asked for."""
    with Playground(facts(KNOWN), TYPES, tmp_path / "ledger.db") as playground:
        (plan,) = playground.dataset.sql(f"SELECT COUNT(*) FROM visits GROUP BY {text}").plans(epsilon)
    names = [group.column.name for group in plan.question.groups]
    land = {"region": "land", "district": "hills", "street": "c"}
    finest = max((row for row in plan.rows), key=lambda row: sum(code is not None for code in row))
    for totals in ([[0]] * len(plan.cells), [[40]] * len(plan.cells)):
        for _ in range(3):
            rows = rows_of(plan, totals)
            assert sums_that_differ(rows) == []
            cells = [row for row in rows if sum(key is None for key in row[:-1]) == sum(one is None for one in finest)]
            assert sum(row[-1] for row in cells) == 90
            in_land = [row for row in cells if all(row[names.index(n)] == land[n] for n in names if n in land)]
            assert sum(row[-1] for row in in_land) == 30
            if "sex" in names:
                at = names.index("sex")
                assert sum(row[-1] for row in cells if row[at] == "f") == 50
                assert sum(row[-1] for row in in_land if row[at] == "m") == 0


def test_a_pair_that_cannot_meet_says_nothing_of_either() -> None:
    """A combination of a district with a region that it does not lie in is empty anyway: the district is not."""
    with Playground(facts(KNOWN), TYPES) as playground:
        plan = playground.dataset.count().by("region", "district").plan(10)
        values = {row[1]: row[-1] for row in rows_of(plan, [[45], [30], [15]])}
    assert values["harbour"] > 0


def test_numbers_of_rows_are_known_of_all_rows_only() -> None:
    """Under a condition, and for sums, known numbers of rows do not hold; what cannot be is empty in all tables."""
    with Playground(facts(KNOWN), TYPES) as playground:
        dataset = playground.dataset
        for query in (dataset.count().where("size > 0"), dataset.sum("cost")):
            (plan,) = query.by("region", "sex").with_totals().plans(1)
            rows = {row[:2]: row[-1] for row in rows_of(plan, [[2**40]] * 4)}
            assert rows["land", "m"] == 0
            assert rows[None, None] > 90


def test_facts_are_part_of_the_terms(tmp_path: Path) -> None:
    """The ledger keeps what is public, and refuses another contract."""
    with Playground(facts(KNOWN), TYPES, tmp_path / "ledger.db") as playground:
        assert "public facts" in str(playground.dataset.terms)
        _ = playground.dataset.ledger
    with (
        Playground(facts(KNOWN.replace("f = 50", "f = 51")), TYPES, tmp_path / "ledger.db") as playground,
        pytest.raises(InboundsError, match="public facts"),
    ):
        playground.dataset.mean("size").ask(1, analyst="ana")


BAD = [
    ("[known]\ntotal = -1\n", "total = ", "a whole number from 0 to 2^50, got -1"),
    ("[known]\ntotal = 1.5\n", "total = ", "a whole number from 0 to 2^50, got 1.5"),
    ("[known]\ntotal = true\n", "total = ", "a whole number from 0 to 2^50, got True"),
    ("[known]\ntotal = 2251799813685249\n", "total = ", "2^50"),
    ("[known]\ntotals = 5\n", "totals = ", "unknown key 'totals'"),
    ("[known]\n[known.by.region]\ncity = -3\n", "city = ", "a whole number from 0 to 2^50, got -3"),
    ("[known]\n[known.by.region]\nmoon = 3\n", "moon = ", "'moon' is not a key of 'region'"),
    ("[known]\n[known.by.size]\n5 = 3\n", "[known.by.size]", "'size' is not a column with keys"),
    ("[known]\n[known.by.nothing]\n5 = 3\n", "[known.by.nothing]", "'nothing' is not a column with keys"),
    ("[known]\nzeros = 5\n", "zeros = ", "zeros must be a list of combinations of keys"),
    ("[known]\nzeros = [{}]\n", "zeros = ", "zeros must be a list of combinations of keys"),
    ('[known]\nzeros = [{ sex = "x" }]\n', "zeros = ", "'x' is not a key of 'sex'"),
    ("[known]\ntotal = 10\n[known.by.region]\ncity = 6\nland = 5\n", "[known.by.region]", "add up to 11, and all"),
    ("[known]\ntotal = 10\n[known.by.region]\ncity = 6\nland = 3\n", "[known.by.region]", "add up to 9, and all"),
    ("[known]\ntotal = 10\n[known.by.region]\ncity = 11\n", "[known.by.region]", "add up to 11, and all rows are 10"),
    ("[known.by.region]\ncity = 6\nland = 5\n[known.by.sex]\nf = 6\nm = 6\n", "[known.by.sex]", "add up to 12"),
    ("[known.by.region]\ncity = 6\n[known.by.district]\nharbour = 4\n\"old town\" = 3\n", "", "must be possible"),
    ('[known]\nzeros = [{ sex = "f" }]\n[known.by.sex]\nf = 3\n', "[known]", "no rows, and some, for the same keys"),
    ('[known]\nzeros = [{ sex = "f", region = "city" }, { sex = "m", region = "city" }]\n[known.by.region]\ncity = 3\n',
     "[known]", "must be possible together"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "at", "told"), BAD)
def test_facts_that_cannot_be_true_are_refused(known: str, at: str, told: str) -> None:
    """The contract is refused, with the line and what to do, before there is anything to charge."""
    text = facts(known)
    with pytest.raises(InvalidContract) as refusal:
        Dataset.parse(text)
    assert told in str(refusal.value)
    assert "; " in str(refusal.value)
    if at:
        line = 1 + next(i for i, one in enumerate(text.split("\n")) if one.startswith(at))
        assert f"line {line}: " in str(refusal.value)


def test_rows_that_are_weighed_are_not_known() -> None:
    """With a row limit, known numbers of rows are refused, for they are not what is counted; zeros may be known."""
    with pytest.raises(InvalidContract, match='public row counts need unit = "row"'):
        Dataset.parse(facts(KNOWN, unit="who"))
    zeros = '[known]\nzeros = [{ region = "land", sex = "m" }]\n'
    with Playground(facts(zeros, unit="who"), TYPES) as playground:
        plan = playground.dataset.count().by("region", "sex").plan(1)
        assert [row[-1] for row in rows_of(plan, [[2**35]] * 4)][-1] == 0


def test_units_and_rows_agree() -> None:
    """Where each row is a unit, the public number of units is that of rows."""
    with pytest.raises(InvalidContract, match="units says 80 and the known total 90"):
        Dataset.parse(facts(KNOWN, units=80))
    with pytest.raises(InvalidContract, match="add up to 30, and all rows are 20"):
        Dataset.parse(facts("[known.by.region]\nland = 30\n", units=20))
    assert Dataset.parse(facts(KNOWN, units=90)).table.known.total == 90


def test_nothing_is_known_without_a_word() -> None:
    """A contract that says nothing knows nothing."""
    assert Dataset.parse(facts("")).table.known == Known()


def test_a_table_that_is_all_public_is_not_sold(tmp_path: Path) -> None:
    """What is known of every group is answered as it is, for nothing; where no answer is that simple, it is refused."""
    known = "[known]\ntotal = 90\n[known.by.sex]\nf = 40\nm = 50\n"
    with Playground(facts(known), TYPES, tmp_path / "ledger.db") as playground:
        assert playground.dataset.count().by("sex").ask(1, analyst="ana").rows == (("f", 40), ("m", 50))
        assert playground.dataset.count().ask(1, analyst="ana").value == 90
        with pytest.raises(InboundsError, match="at least one grouping must not be public"):
            playground.dataset.count().by("sex").with_totals().ask(1, analyst="ana")
        assert playground.dataset.ledger.balance("visits").spent == 0


def test_an_explanation_says_what_is_not_protected() -> None:
    """Whoever looks at a question is told which numbers are public by the contract."""
    with Playground(facts(KNOWN), TYPES) as playground:
        told = playground.dataset.count().by("region", "sex").explain(1).parts[0].mechanism
        assert "Public by contract, and so not protected: region, sex; the total; region; sex" in told
        assert "not protected" not in playground.dataset.sum("size").by("street").explain(1).parts[0].mechanism
