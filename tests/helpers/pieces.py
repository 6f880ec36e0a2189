"""How tests are shared out among processes: what is costly to set up is set up by one of them."""

from __future__ import annotations

SPARK = "spark"


def piece_of(test: str) -> str:
    """Return what a test is run together with: all that name Spark, which has one session, or the tests of its file."""
    file, _, name = test.partition("::")
    return SPARK if SPARK in name else file
