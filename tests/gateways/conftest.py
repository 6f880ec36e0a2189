"""What the tests of the gateways share: the clinic of the demonstration, served by a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.conftest import Clinic, serve_clinic
from tests.helpers.served_hospital import running


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of a module."""
    served = serve_clinic(tmp_path_factory.mktemp("clinic"))
    with running(served) as found:
        yield Clinic(served, found)
