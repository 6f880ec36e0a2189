"""A dataset on a server has the methods of one at hand, and its queries are the same questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from inbounds.client import Connection, RemoteDataset, RemoteExplanation, RemoteQuery
from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Explanation, Query, column
from inbounds.server.service.dataset_shape import describe_dataset
from inbounds.server.state.open_datasets import Holding
from tests.helpers.corpus import clinic

CUSTODIANS = "it is the custodian's, who has the dataset at hand"
INSIDE = "it is what the server plans and runs"
IN_SQL = "it needs more of the contract than a server tells; it is written in SQL"

NOT_REMOTE: dict[type, dict[str, str]] = {
    Dataset: {
        "close": "the connection is closed instead",
        "load": CUSTODIANS,
        "parse": CUSTODIANS,
        "discover_keys": CUSTODIANS,
        "discover_limit": CUSTODIANS,
        "discover_bounds": CUSTODIANS,
        "ledger": CUSTODIANS,
        "ledger_place": CUSTODIANS,
        "unchecked_ledger": CUSTODIANS,
        "record_delta": CUSTODIANS,
        "record_terms": CUSTODIANS,
        "recorded_terms": CUSTODIANS,
        "recorded_allowance": CUSTODIANS,
        "terms": CUSTODIANS,
        "lasting": CUSTODIANS,
        "sources": CUSTODIANS,
        "engine": INSIDE,
        "engine_of": INSIDE,
        "planned": INSIDE,
        "share_statements": INSIDE,
        "identity": INSIDE,
        "described_by": INSIDE,
        "limited": "a server knows by the key whose limit it is",
        "join": IN_SQL,
        "exists": IN_SQL,
        "not_exists": IN_SQL,
    },
    Query: {
        "of": INSIDE,
        "plan": INSIDE,
        "plans": INSIDE,
        "view": INSIDE,
        "question": INSIDE,
        "questions": INSIDE,
        "asked": INSIDE,
        "measures": INSIDE,
        "places": INSIDE,
        "shown": INSIDE,
        "asked_text": INSIDE,
        "facts": INSIDE,
        "earlier_facts": INSIDE,
        "released_columns": INSIDE,
        "most_at_once": INSIDE,
        "row_limit": INSIDE,
        "confidences": INSIDE,
        "at_once": INSIDE,
        "describe_intervals": INSIDE,
        "put_together": INSIDE,
        "longest": INSIDE,
        "remarks": INSIDE,
        "public": INSIDE,
        "paid": INSIDE,
        "stated": INSIDE,
        "select": IN_SQL,
    },
}
"""What a class at hand has and its like on a server has not, and why."""


def public(kind: type) -> set[str]:
    """Return what a class offers."""
    fields = getattr(kind, "__dataclass_fields__", {})
    return {name for name in (*dir(kind), *fields) if not name.startswith("_")}


@pytest.mark.parametrize(("local", "remote"), [(Dataset, RemoteDataset), (Query, RemoteQuery)])
def test_what_is_at_hand_is_on_a_server(local: type, remote: type) -> None:
    """Every method of a dataset and a query at hand is there on a server too, unless there is a reason."""
    assert public(local) - public(remote) == set(NOT_REMOTE[local])


def test_explanations_are_alike() -> None:
    """What a preview at hand says of cost and statement, one from a server says by the same names."""
    assert {"epsilon", "statement", "data"} <= public(Explanation) & public(RemoteExplanation)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dataset, RemoteDataset]]:
    """The clinic at hand, and as a server describes it; nothing is asked."""
    with clinic.read_only(tmp_path_factory.mktemp("both")) as dataset:
        described = describe_dataset(Holding(dataset, 1.0)).model_dump()
        yield dataset, RemoteDataset(cast("Connection", None), described)


Build = Callable[[Any], Any]

SAME: list[Build] = [
    lambda d: d.count(),
    lambda d: d.count_units(),
    lambda d: d.count_keys("clinic"),
    lambda d: d.sum("cost"),
    lambda d: d.mean("age"),
    lambda d: d.mean("age * 2"),
    lambda d: d.mean(column("cost") * column("age")),
    lambda d: d.variance("age"),
    lambda d: d.variance("age", population=True),
    lambda d: d.stddev("age"),
    lambda d: d.stddev("age", population=True),
    lambda d: d.covariance("age", "cost"),
    lambda d: d.covariance("age", "cost", population=True),
    lambda d: d.correlation("age", "cost"),
    lambda d: d.proportion("age > 60"),
    lambda d: d.proportion((column("age") > 60) & (column("sex") == "f")),
    lambda d: d.median("age"),
    lambda d: d.quantile("age", 0.9),
    lambda d: d.quantiles("age", [0.1, 0.5]),
    lambda d: d.minimum("age"),
    lambda d: d.maximum("admitted"),
    lambda d: d.histogram("age", 10),
    lambda d: d.histogram("clinic"),
    lambda d: d.cdf("age", 10),
    lambda d: d.count("age"),
    lambda d: d.together(d.count(), d.mean("age")).by("clinic"),
    lambda d: d.together(d.count("age"), d.mean("age")).by("clinic"),
    lambda d: d.mean("age").where("age > 3 OR sex = 'f'").where(column("clinic") == "St. Mary's").by("clinic", "sex"),
    lambda d: d.count().by("clinic", "sex").with_totals(),
    lambda d: d.count().groupings(("clinic", "sex"), ("clinic",), ()),
    lambda d: d.count().by("clinic").having("count > 3").having("count < 90"),
    lambda d: d.count().by("clinic").order_by("count", descending=True).order_by("clinic").limit(3, 1),
    lambda d: d.count().by("clinic").order_by("count", missing_first=True),
    lambda d: d.rows_of("prescriptions").mean("dose"),
    lambda d: d.rows_of("prescriptions").count_units(),
    lambda d: d.per_unit(n="COUNT(*)").mean("n"),
    lambda d: d.per_unit(n="COUNT(*)", where="age > 3").median("n"),
    lambda d: d.per("patient", "clinic", n="COUNT(*)").mean("n"),
]


@pytest.mark.parametrize("build", SAME)
def test_a_remote_query_is_the_same_question(both: tuple[Dataset, RemoteDataset], build: Build) -> None:
    """What a query sends to a server is read there as the question that the same calls ask at hand."""
    local, remote = both
    sent = build(remote)
    assert isinstance(sent, RemoteQuery)
    read = local.sql(str(sent))
    asked = build(local)
    assert [question.measure for question in read.questions] == [question.measure for question in asked.questions]
    assert read.questions[0].condition == asked.questions[0].condition
    assert read.questions[0].sets == asked.questions[0].sets
    assert [group.column.name for group in read.questions[0].groups] == [
        group.column.name for group in asked.questions[0].groups
    ]
    assert (read.shown.having, read.shown.order, read.shown.limit, read.shown.offset) == (
        asked.shown.having, asked.shown.order, asked.shown.limit, asked.shown.offset
    )  # fmt: skip


def test_a_remote_dataset_shows_the_same(both: tuple[Dataset, RemoteDataset]) -> None:
    """Columns, tables and examples of a dataset on a server are shown as those of one at hand."""
    local, remote = both
    assert repr(remote.columns) == repr(local.columns)
    assert repr(remote.tables) == repr(local.tables)
    assert remote.tables._repr_html_() == local.tables._repr_html_()
    assert remote.examples == local.examples
    assert repr(remote.mean("age")) == "<RemoteQuery SELECT AVG(age) FROM visits>"
    assert "<details>" in remote.mean("age")._repr_html_()
    names = [[row["column"] for row in dataset.rows_of("prescriptions").columns] for dataset in (local, remote)]
    assert names[0] == names[1]


REFUSED: list[tuple[Build, str]] = [
    (lambda d: d.rows_of("prescription"), "did you mean prescriptions?"),
    (lambda d: d.sql("SELECT COUNT(*) FROM visits").where("age > 3"), "is changed in its text"),
    (lambda d: d.histogram("age", [1, 2]), "bins must be a whole number"),
    (lambda d: d.count().with_totals(), "group by a column first"),
    (lambda d: d.count().groupings("clinic"), "put its names in parentheses"),
    (lambda d: d.together(d.count().where("age > 3")), "add where and by afterwards"),
]


@pytest.mark.parametrize(("build", "told"), REFUSED)
def test_what_cannot_be_sent_is_refused_before(both: tuple[Dataset, RemoteDataset], build: Build, told: str) -> None:
    """What no text can say is refused where it is called, with a remedy."""
    with pytest.raises(InvalidQuestion, match=re.escape(told)):
        build(both[1])
