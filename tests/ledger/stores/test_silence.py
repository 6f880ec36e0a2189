"""A server that accepts and says nothing is given up, and the ledger says what became of a charge."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any

import pytest

from inbounds.errors import LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.ledger.stores import postgres as postgres_store
from inbounds.ledger.stores import postgres_connection
from tests.helpers import own_postgres
from tests.helpers.own_postgres import Postgres

postgres = own_postgres.postgres

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="this system tells nothing of other processes in /proc"),
]


@pytest.fixture
def ledger(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A ledger with little patience."""
    monkeypatch.setattr(postgres_store, "SILENCE", 0.5)
    monkeypatch.setitem(postgres_connection.UNLESS_GIVEN, "connect_timeout", 2)
    with Ledger.open(postgres.url) as opened:
        opened.open_dataset("clinic", 1)
        opened.charge("clinic", "ada", "0.25", "before")
        yield opened


@contextmanager
def frozen_at(what: object, method: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Freeze the server when something is called, until the end of the block."""
    usual = getattr(what, method)
    with ExitStack() as frozen:

        def freeze(*given: Any, **named: Any) -> Any:
            frozen.enter_context(postgres.frozen())
            return usual(*given, **named)

        with monkeypatch.context() as patch:
            patch.setattr(what, method, freeze)
            yield


def test_a_frozen_server_charges_nothing(ledger: Ledger, postgres: Postgres) -> None:
    """Frozen before a charge, also on a new connection, nothing was charged, and that is known; later it goes on."""
    with postgres.frozen():
        with pytest.raises(LedgerUnavailable, match=r"the server does not respond.*nothing was charged") as refused:
            ledger.charge("clinic", "ada", "0.25", "during")
        assert not refused.value.uncertain
        with pytest.raises(LedgerUnavailable, match=r"cannot be reached.*nothing was charged"):
            ledger.charge("clinic", "ada", "0.25", "during")
        with pytest.raises(LedgerUnavailable, match="cannot be read"):
            ledger.balance("clinic")
        with pytest.raises(LedgerUnavailable, match="cannot be opened"):
            Ledger.open(postgres.url)
    assert ledger.balance("clinic").spent == Fraction(1, 4)
    assert ledger.charge("clinic", "ada", "0.25", "during").fresh
    assert ledger.verify().ok


def test_a_server_that_freezes_within_a_charge_is_left(
    ledger: Ledger, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen between the statements of a charge, nothing was charged, also when the server goes on with it."""
    with frozen_at(ledger._book, "append", postgres, monkeypatch):
        with pytest.raises(LedgerUnavailable, match=r"does not respond.*nothing was charged") as refused:
            ledger.charge("clinic", "ada", "0.25", "during")
        assert not refused.value.uncertain
    assert ledger.balance("clinic").spent == Fraction(1, 4)
    assert ledger.charge("clinic", "ada", "0.25", "during").fresh
    assert ledger.verify().ok


def test_a_server_that_freezes_within_a_commit_is_uncertain(
    ledger: Ledger, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said that it is not known whether something was charged; the same id settles it, and it is charged once."""
    with frozen_at(ledger._store, "_commit", postgres, monkeypatch):
        with pytest.raises(LedgerUnavailable, match="may have been charged: ask again with the same") as refused:
            ledger.charge("clinic", "ada", "0.25", "during")
        assert refused.value.uncertain
    ledger.charge("clinic", "ada", "0.25", "during")
    assert ledger.balance("clinic").spent == Fraction(1, 2)
    assert [entry.kind for entry in ledger.statement().entries].count("charge") == 2
    assert ledger.verify().ok
