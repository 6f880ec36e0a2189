"""How the tests themselves are shared out among processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems, pytest_xdist_make_scheduler
from tests.helpers.xdist_groups import BROWSER, SPARK, piece_of

NAMES = [
    "tests/a/test_a.py::test_one[duckdb-1]",
    "tests/a/test_a.py::test_one[spark-1]",
    "tests/a/test_a.py::test_two",
    "tests/b/test_b.py::test_spark_reads",
    "spark/tests/b/test_b.py::test_one",
    "tests/server/pages/browser/test_c.py::test_one",
    "tests/server/pages/test_d.py::test_one",
    "tests/server/pages/browser/test_e.py::test_one",
]
ORDERED = [NAMES[place] for place in (1, 3, 5, 7, 0, 2, 4, 6)]


def test_what_takes_longest_goes_first_and_others_keep_their_order() -> None:
    """Whatever file they are in, the tests on Spark are collected first, then those in a browser; no other moves."""
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in NAMES]
    pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ORDERED


def test_tests_that_share_something_costly_are_one_piece_and_others_a_piece_for_each_file() -> None:
    """One process starts Spark, one the browser, once for all; nobody else waits, and a file's tests share fixtures."""
    files = [*["tests/a/test_a.py"] * 2, "spark/tests/b/test_b.py", "tests/server/pages/test_d.py"]
    assert [piece_of(name) for name in ORDERED] == [SPARK, SPARK, BROWSER, BROWSER, *files]


def test_the_scheduler_gives_out_these_pieces_in_this_order(request: pytest.FixtureRequest) -> None:
    """What pytest-xdist shares out is a piece at a time, as collected: the longest piece is not put behind others."""
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True), getvalue=lambda _: ["popen"], getini=request.config.getini
    )
    scheduler = pytest_xdist_make_scheduler(config, None)
    assert [scheduler._split_scope(name) for name in NAMES] == [piece_of(name) for name in NAMES]
    assert config.option.loadscopereorder is False
