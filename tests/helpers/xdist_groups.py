"""How tests are shared out among processes: what is costly to set up is set up by one of them."""

from __future__ import annotations

SPARK = "spark"
BROWSER = "tests/server/pages/browser/"
"""The folder of the tests that share one browser and one server."""

LONGEST = "tests/query/privacy/test_random_privacy.py"
"""The file that takes longest, with all that `make thorough` tries."""

FIRST = (SPARK, BROWSER, LONGEST)
"""The pieces that take longest begin first."""


def piece_of(test: str) -> str:
    """Return what a test is run together with: all that name Spark or share the browser, or the tests of its file."""
    file, _, name = test.partition("::")
    if SPARK in name:
        return SPARK
    return BROWSER if file.startswith(BROWSER) else file


def turn_of(test: str) -> int:
    """Return when a test's piece begins: the lower the sooner."""
    piece = piece_of(test)
    return FIRST.index(piece) if piece in FIRST else len(FIRST)
