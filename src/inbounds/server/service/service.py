"""What all requests of a process share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inbounds.server.basics.metrics import Metrics
from inbounds.server.basics.pace import Pace
from inbounds.server.basics.readiness import Readiness
from inbounds.server.people.authentication import Authentication
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.people.sessions import Sessions
from inbounds.server.people.sign_ins import SignIns
from inbounds.server.state.budget_requests import BudgetRequests
from inbounds.server.state.claims import Claims
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from inbounds.server.state.open_datasets import Holdings
from inbounds.server.state.question_store import QuestionStore
from inbounds.server.state.rates import Rates
from inbounds.server.state.report_store import ReportStore
from inbounds.server.state.saved_questions import SavedQuestions
from inbounds.server.state.share_store import ShareStore

if TYPE_CHECKING:
    from inbounds.server.people.code_flow import CodeFlow


@dataclass(frozen=True)
class Service:
    """The parts of a server, opened once in each process."""

    file: CustodianFile
    holdings: Holdings
    keys: KeyRing
    sessions: Sessions
    questions: QuestionStore
    budget_requests: BudgetRequests
    reports: ReportStore
    shares: ShareStore
    saved: SavedQuestions
    authentication: Authentication
    claims: Claims
    rates: Rates
    metrics: Metrics
    readiness: Readiness
    probes: Pace
    code_flow: CodeFlow | None
    """How to sign in at the identity provider, if there is one."""

    @classmethod
    def open(cls, file: CustodianFile, *, create: bool = False) -> Service:
        """Open what the custodian's file names; a ledger that is not there is created if that is said."""
        database = Database(file.state)
        keys = KeyRing(database)
        claims = Claims(beside(file.state, "claims"))
        rates = Rates(beside(file.state, "rates"), file.limits.requests_per_minute)
        # Without the questions of the last moment, answers are shown as they were released.
        questions = QuestionStore(Database(file.state, waits_for_disk=False))
        stores = (
            Sessions(database), questions, BudgetRequests(database), ReportStore(database), ShareStore(database),
            SavedQuestions(database),
        )  # fmt: skip
        authentication = Authentication(file, keys)
        flow = _code_flow(file, authentication, SignIns(database))
        holdings = Holdings(file, database, create=create)
        readiness = Readiness(lambda: holdings.is_ready() and database.is_writable())
        return cls(file, holdings, keys, *stores, authentication, claims, rates, Metrics(), readiness, Pace(), flow)

    def close(self) -> None:
        """Let go of everything."""
        self.holdings.close()
        self.claims.close()


def _code_flow(file: CustodianFile, authentication: Authentication, sign_ins: SignIns) -> CodeFlow | None:
    if authentication.tokens is None:
        return None
    from inbounds.server.people.code_flow import CodeFlow  # noqa: PLC0415  whoever starts with keys alone does not wait for it

    return CodeFlow(file, authentication.tokens, sign_ins)


def beside(state: Path, what: str) -> Path:
    """Return the path of a file that belongs to the server's own one."""
    return state.with_name(f"{state.name}.{what}")
