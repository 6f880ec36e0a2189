"""What the tests of the server share: a small hospital that is served, anew for each test or once for a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.served_hospital import Served, build


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of this process that nobody has asked yet."""
    found = build(tmp_path / "hospital")
    yield found
    found.close()


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of this process that all tests of a module share."""
    found = build(tmp_path_factory.mktemp("hospital"))
    yield found
    found.close()
