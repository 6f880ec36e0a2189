"""What questions count in rho: no less than they have by the definition, and in the ledger what they count."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pandas as pd
import pytest

from inbounds.errors import InvalidContract
from inbounds.ledger.values.cost import pure_rho
from inbounds.privacy.rho import bounded_range, pure
from inbounds.query import Dataset, Query
from inbounds.query.methods.quantiles.law import Buckets, QuantileLaw, rank_misses
from inbounds.query.methods.quantiles.ordered import OrderedQuantiles
from tests.helpers.audit_tables import contract
from tests.helpers.renyi import greatest_rho_of
from tests.query.methods.quantiles.test_ordered import PRIVATE, exactly, neighbours

ROUNDING = 1e-9

STREETS = [f"s{number}" for number in range(200)]
COLUMNS = (
    f'[columns.age]\nbounds = "[0, 9] step 1"\n[columns.place]\nkeys = ["a", "b"]\n[columns.street]\nkeys = {STREETS}\n'
)

BUDGET = "total = 1\ndelta = 1e-6"


def opened(folder: Path, budget: str = BUDGET) -> Dataset:
    """Return a small dataset with a budget."""
    frame = pd.DataFrame(
        {"who": [1, 1, 2, 3], "age": [3, 4, 5, 6], "place": ["a", "b", "a", "a"], "street": STREETS[:4]}
    )
    return Dataset.parse(contract(COLUMNS, limit=2, budget=budget), frame=frame, ledger=folder / "budget.db")


def law_of(buckets: Buckets, rows: list[int], level: Fraction, epsilon: Fraction) -> list[float]:
    """Return the probabilities of a quantile, where a unit counts as one row of weight 2."""
    rate = epsilon / (2 * max(level, 1 - level) * level.denominator * 2)
    law = QuantileLaw(buckets, rank_misses(rows, level), rate)
    below = [float(law.below(index, 100).mid()) for index in range(-1, law.before[-1])]
    return [high - low for low, high in pairwise(below)]


@pytest.mark.parametrize(("level", "part"), [(Fraction(1, 2), 0.9), (Fraction(1, 10), 0.5)])
def test_the_loss_of_a_quantile_has_a_range_of_epsilon(level: Fraction, part: float) -> None:
    """So its rho is that of a bounded range; for some tables of medians the range is nearly all of epsilon."""
    buckets, epsilon = PRIVATE["quartiles"].buckets, Fraction(2)
    widest = 0.0
    for rows, more in neighbours(3, 4, 2):
        first, second = (law_of(buckets, one, level, epsilon) for one in (rows, more))
        losses = [math.log(p / q) for p, q in zip(first, second, strict=True)]
        widest = max(widest, max(losses) - min(losses))
        assert greatest_rho_of(first, second) <= float(bounded_range(epsilon)) + ROUNDING
    assert part * float(epsilon) < widest <= float(epsilon) + ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("case", PRIVATE)
def test_quantiles_in_order_have_no_more_than_they_count(case: str) -> None:
    """For all small tables and neighbours, over many orders; less than one draw at all of epsilon would have."""
    quantiles: OrderedQuantiles = PRIVATE[case]
    seen: dict[tuple[int, ...], list[float]] = {}

    def law(rows: list[int]) -> list[float]:
        if tuple(rows) not in seen:
            found = exactly(quantiles, rows)
            seen[tuple(rows)] = [float(found[key].mid()) for key in sorted(found)]
        return seen[tuple(rows)]

    unit = quantiles.limit * quantiles.row_weight
    worst = max(greatest_rho_of(law(rows), law(more)) for rows, more in neighbours(quantiles.buckets.count, 2, unit))
    assert worst <= float(quantiles.rho) + ROUNDING
    assert quantiles.rho <= bounded_range(quantiles.epsilon)


def test_more_draws_for_the_same_epsilon_count_less() -> None:
    """Each depth has its part of epsilon, and its square: a half, a third; where branches differ, the worse one."""
    law = PRIVATE["quartiles"]
    assert law.rho == 2 * (law.epsilon / 2) ** 2 / 8
    uneven = OrderedQuantiles(
        law.buckets, (Fraction(1, 5), Fraction(2, 5), Fraction(3, 5), Fraction(4, 5)), Fraction(3), 1, 1
    )
    assert uneven.depth == 3
    assert uneven.rho == Fraction(1, 8) + Fraction(4, 8)  # the shorter branch spends two thirds at once


@pytest.mark.slow
def test_what_is_asked_counts_what_its_mechanisms_have(tmp_path: Path) -> None:
    """A number that of its epsilon; a quantile that of a range; a table, and several measures, that of their parts."""
    epsilon = Fraction(1, 10)
    with opened(tmp_path) as dataset:
        queries: dict[str, Query] = {
            "count": dataset.count(),
            "mean": dataset.mean("age").by("place"),
            "median": dataset.median("age").by("place"),
            "table": dataset.count().by("street").with_totals(),
            "cdf": dataset.cdf("age"),
            "several": dataset.together(dataset.count_units(), dataset.median("age")),
        }
        rho = {name: sum(plan.rho for plan in query.plans(epsilon)) for name, query in queries.items()}
        assert rho["count"] == rho["mean"] == pure(epsilon)
        assert rho["median"] == epsilon**2 / 8
        parts = queries["table"].plans(epsilon)[0].answering.plan.split.values()  # type: ignore[attr-defined]
        assert len(parts) == 2
        assert rho["table"] == sum(map(pure, parts)) < pure(epsilon)
        assert rho["cdf"] <= pure(epsilon)
        assert rho["several"] == pure(epsilon / 2) + (epsilon / 2) ** 2 / 8
        for name, query in queries.items():
            before = dataset.ledger.balance(dataset.name).rho_spent
            query.ask(epsilon, analyst="ana", request_id=name)
            after = dataset.ledger.balance(dataset.name).rho_spent
            assert before is not None
            assert after == before + Fraction(math.ceil(rho[name] * 10**12), 10**12)
            query.ask(epsilon, analyst="ana", request_id=name)  # again, for nothing
        assert dataset.ledger.balance(dataset.name).rho_spent == after
        assert dataset.ledger.verify().ok


def test_a_contract_with_a_delta_lasts_longer(tmp_path: Path) -> None:
    """Ten times 0.1 is all of 1; with a delta the same budget has medians for longer."""
    (tmp_path / "with").mkdir()
    with opened(tmp_path / "with") as dataset:
        dataset.median("age").ask(Fraction(1, 10), analyst="ana")
        found = dataset.ledger.repeats(dataset.name)
        assert found is not None
        assert found.count == 18
    with opened(tmp_path, "total = 1") as dataset:
        dataset.median("age").ask(Fraction(1, 10), analyst="ana")
        alone = dataset.ledger.repeats(dataset.name)
        assert alone is not None
        assert (alone.count, alone.last.rho) == (9, None)
        assert dataset.ledger.statement().entries[-2].rho is None


def test_every_number_counts_at_most_that_of_its_epsilon() -> None:
    """In units, rounded up; so many questions never count more together than one of their sum."""
    for first, second in product((1, 10**9, 10**11), repeat=2):
        assert pure_rho(first) + pure_rho(second) <= pure_rho(first + second) + 1


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ("total = 1\ndelta = 0", "line 15: delta must be above 0 and below 1, got 0"),
        ("total = 1\ndelta = true", "delta must be a finite number, got True"),
        ("total = 1\ndelta = 1e-6\ndelta_reserved = 1e-5", "line 16: delta_reserved must be part of delta"),
        ("total = 1\ndelta_reserved = 1e-5", "delta_reserved must be part of delta"),
        ("total = 1\ndelta_for_keys = 1e-5", "unknown key 'delta_for_keys'"),
    ],
)
def test_a_delta_that_cannot_be_is_refused_by_its_line(tmp_path: Path, budget: str, told: str) -> None:
    """In the contract, before anything else."""
    with pytest.raises(InvalidContract) as refused:
        opened(tmp_path, budget)
    assert told in str(refused.value)
