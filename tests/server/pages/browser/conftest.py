"""What the tests in a browser share: one browser, and one server with people for every test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.helpers.browser import launched
from tests.helpers.served_hospital import Running, Served, build, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ANALYST = '\n[people.{}]\nrole = "analyst"\ndatasets = ["visits"]\n'


@dataclass(frozen=True)
class Variant:
    """How somebody looks: at which width, and whether scripts run; each has analysts of its own."""

    width: int
    script: bool

    def __str__(self) -> str:
        return f"{self.width}-{'script' if self.script else 'plain'}"

    def analyst(self, number: int) -> str:
        """Return the name of an analyst who is in nobody else's way."""
        return f"analyst-{self}-{number}"


VARIANTS = [Variant(width, script) for width in (360, 1280) for script in (True, False)]
CROSSED = [VARIANTS[1], VARIANTS[2]]
"""Narrow without script and wide with it, for what differs less."""

EACH = 4
"""So many analysts has a variant."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser; it ends with these tests, since others would be in the way of its event loop."""
    with launched() as found:
        yield found


@pytest.fixture(scope="package")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The small hospital, where an analyst of a variant has 2 to spend."""
    names = [one.analyst(number) for one in VARIANTS for number in range(EACH)]
    more = "".join(ANALYST.format(name) for name in names)
    return build(tmp_path_factory.mktemp("clinic"), more=more, total="500", per_analyst="2")


@pytest.fixture(scope="package")
def server(browser: Browser, clinic: Served) -> Iterator[Running]:
    """The server, in a process of its own; not started where there is no browser."""
    assert browser.is_connected()
    with running(clinic) as found:
        yield found


@pytest.fixture(params=VARIANTS, ids=str)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each way to look."""
    found: Variant = request.param
    return found
