"""What every test shares: Hypothesis may take its time, and what takes longest as one piece begins first."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.helpers.xdist_groups import piece_of, turn_of

settings.register_profile("inbounds", deadline=None, max_examples=40)  # a mechanism is proved before it is used
settings.register_profile("quick", deadline=None, max_examples=8)
settings.load_profile("inbounds")

gc.disable()  # while tests are collected there is hardly any garbage, and ever more to look through for it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests on Spark first, then those in a browser, so that nobody waits for them in the end."""
    items.sort(key=lambda item: turn_of(item.nodeid))


def pytest_collection_finish() -> None:
    """Look for garbage again."""
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def one_database() -> Iterator[None]:
    """Let files and frames be read in one database of DuckDB: to start one takes longer than most statements.

    Each still has a connection of its own, and processes that tests start, such as servers, have their own databases.
    """
    duckdb = sys.modules.get("inbounds.query.engines.duckdb")
    if duckdb is None:  # no test asks a table
        yield
        return
    start, macros = duckdb.connect_to_memory, duckdb.MACROS
    started = start()

    def connect() -> Any:  # a test that puts other macros there means them
        return started.cursor() if duckdb.MACROS is macros else start()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect_to_memory", connect)
        yield
    started.close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process a piece at a time, in order.

    Marks for `--dist loadgroup` would say the same, but pytest-xdist 3.8 passes over them with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  only in the process that shares them out

    config.option.loadscopereorder = False
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = piece_of
    return scheduler
