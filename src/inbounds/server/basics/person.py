"""Who asks, and what each role may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Role(Enum):
    """What a person is here for; nobody has two roles under one name."""

    ANALYST = "analyst"
    CUSTODIAN = "custodian"
    AUDITOR = "auditor"
    READER = "reader"

    @property
    def with_article(self) -> str:
        """The role with its article: "an analyst"."""
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value}"


class Action(Enum):
    """What can be done, and by whom: the whole of the authorisation."""

    KNOW_ONESELF = "see their own name and role", tuple(Role)
    SEE_DATASET = "see datasets and budgets", (Role.ANALYST, Role.CUSTODIAN)
    EXPLAIN = "preview a query", (Role.ANALYST, Role.CUSTODIAN)
    ASK = "run a query", (Role.ANALYST,)
    READ_ANSWERS = "read their own answers", (Role.ANALYST,)
    SHARE = "share their own answers", (Role.ANALYST,)
    PROPOSE_REPORTS = "propose reports", (Role.ANALYST,)
    APPROVE_REPORTS = "approve and reject reports", (Role.CUSTODIAN,)
    READ_REPORTS = "read published reports", tuple(Role)
    READ_SHARED = "read answers that were shared with them", tuple(Role)
    READ_LEDGER = "read and verify the ledger", (Role.CUSTODIAN, Role.AUDITOR)
    GRANT = "grant budget", (Role.CUSTODIAN,)
    INSPECT = "check contracts, with true figures", (Role.CUSTODIAN,)
    MANAGE_KEYS = "issue, list and revoke API keys", (Role.CUSTODIAN,)
    READ_METRICS = "read metrics", (Role.CUSTODIAN,)

    def __init__(self, words: str, roles: tuple[Role, ...]) -> None:
        self.words = words
        self.roles = roles

    @property
    def who(self) -> str:
        """Those who may do it, in words."""
        *others, last = (f"{role.value}s" for role in self.roles)
        return f"{', '.join(others)} and {last}" if others else last


@dataclass(frozen=True)
class Person:
    """Somebody whom the custodian's file names; the ledger's analyst is this name."""

    name: str
    role: Role
    datasets: tuple[str, ...] = ()
    """What an analyst may ask."""
    max_epsilon_per_question: Fraction | None = None
    """What a single question of an analyst may cost, whatever the contract allows."""

    def may(self, action: Action) -> bool:
        """Return whether this role may do something at all."""
        return self.role in action.roles

    def may_see(self, dataset: str) -> bool:
        """Return whether a dataset is this person's to see: an analyst's own, every one for a custodian."""
        return self.role is Role.CUSTODIAN or dataset in self.datasets
