"""Many analysts at once: what they wait for, how many answers they get, and whether anything is paid wrongly."""

from __future__ import annotations

import asyncio
import random
import ssl
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

import httpx2
import numpy as np

from benchmarks.ledger import Deed, rate
from benchmarks.report import Report, at_most, duration
from benchmarks.served_clinic import ServedClinic, bearer, contract
from inbounds.cli.clinic.questions import QUESTIONS
from inbounds.ledger import Ledger
from inbounds.query import Dataset

ANALYSTS = 200
WORKERS = 2
TICK = 1.0
THINKING = 4.0
"""Seconds that an analyst thinks before each request, on average."""
SCARCE = 5
"""The budget of a dataset that everybody asks, and that lasts for seconds only."""
SHARE = 0.5
EXPLAIN = 0.250

ANSWER = '{"columns":["clinic","count"],"rows":[["north",1100],["south",900],["east",130]],"noise":[[9.1],[9.1]]}'


@dataclass
class Seen:
    """What all analysts saw together."""

    explained: list[float] = field(default_factory=list)
    """Seconds that each explanation took."""
    answers: dict[str, Any] = field(default_factory=dict)
    """The rows of each answer, by its request id in the ledger."""
    others: int = 0
    """Answers to a request that was sent again that were not the first one."""
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    """How long it took, until the last answer."""


def run(seconds: float) -> Report:
    """Let analysts explain and ask for so long, then ask without a pause, and count beside what the ledger does."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        contracts = {
            "visits": contract("visits", 10**6, TICK, 10**5),
            "scarce": contract("scarce", SCARCE, TICK),
        }
        clinic = ServedClinic.build(Path(folder), contracts, ANALYSTS, WORKERS)
        alone = rate(answerer, f"{folder}/alone.db", WORKERS, seconds / 12)
        library = rate(asker, folder, WORKERS, seconds / 6)
        with clinic.running():
            asyncio.run(_crowd(clinic, Seen(), 3.0, THINKING / 2))  # warm up: every question is planned once
            mixed, pressed = Seen(), Seen()
            asyncio.run(_crowd(clinic, mixed, seconds, THINKING))
            asyncio.run(_crowd(clinic, pressed, seconds / 4, None))
        alone = (alone + rate(answerer, f"{folder}/alone-again.db", WORKERS, seconds / 12)) / 2
        wrong = _wrong(clinic.ledger, mixed, pressed)
    return _report(mixed, pressed, alone, library, wrong)


def answerer(where: str) -> Deed:
    """Return what a question does to the ledger: it is charged, and its answer is kept."""
    ledger = Ledger.open(where)
    ledger.open_dataset("visits", 10**6, per_analyst=10**5)
    fingerprint, note = "f" * 64, QUESTIONS[1].sql()
    return lambda: ledger.answered(ledger.charge("visits", "ana", "0.001", uuid4().hex, fingerprint, note), ANSWER)


def asker(folder: str) -> Deed:
    """Return what the library does without a server: it asks one of the questions."""
    dataset = Dataset.load(f"{folder}/visits.toml", ledger=f"{folder}/library.db")
    for question in QUESTIONS:
        dataset.sql(question.sql()).ask(question.epsilon, analyst="ana")

    def ask() -> None:
        question = random.choice(QUESTIONS)
        dataset.sql(question.sql()).ask(question.epsilon, analyst="ana")

    return ask


async def _crowd(clinic: ServedClinic, seen: Seen, seconds: float, thinking: float | None) -> None:
    """Let everybody work for so many seconds; without time to think, they only ask."""
    begun = perf_counter()
    end = begun + seconds
    trust = ssl.create_default_context()  # made once: nobody uses it here

    async def one(name: str) -> None:
        given: dict[str, Any] = {
            "base_url": clinic.file.url,
            "headers": bearer(clinic.keys[name]),
            "timeout": 120,
            "verify": trust,
        }
        async with httpx2.AsyncClient(**given, trust_env=False) as client:  # one for all takes longer than the server
            await _Analyst(client, name, seen).work(end, thinking)

    await asyncio.gather(*(one(name) for name in clinic.keys if name != "carla"))
    seen.seconds = perf_counter() - begun


@dataclass(frozen=True)
class _Analyst:
    client: httpx2.AsyncClient
    name: str
    seen: Seen

    async def work(self, end: float, thinking: float | None) -> None:
        """Explain, think, ask, and now and then ask again what was asked."""
        if thinking is not None:
            await asyncio.sleep(random.uniform(0, thinking))
        while perf_counter() < end:
            question = random.choice(QUESTIONS)
            body = {"sql": question.sql(), "epsilon": str(question.epsilon)}
            dataset = "visits"
            if thinking is not None:
                await self._explain(body)
                await asyncio.sleep(random.expovariate(1 / thinking))
                dataset = random.choice(["visits"] * 9 + ["scarce"])
            if dataset == "scarce":
                body["sql"] = body["sql"].replace("FROM visits", "FROM scarce")
            await self._ask(dataset, body, twice=random.random() < 0.05)

    async def _explain(self, body: dict[str, str]) -> None:
        begun = perf_counter()
        response = await self.client.post("/v1/datasets/visits/explain", json=body)
        self.seen.explained.append(perf_counter() - begun)
        self.seen.statuses[response.status_code] += 1

    async def _ask(self, dataset: str, body: dict[str, str], twice: bool) -> None:
        request = uuid4().hex
        headers = {"Idempotency-Key": request}
        for _ in range(1 + twice):
            response = await self.client.post(f"/v1/datasets/{dataset}/answers", json=body, headers=headers)
            self.seen.statuses[response.status_code] += 1
            if response.is_success:
                rows = response.json()["rows"]
                self.seen.others += self.seen.answers.setdefault(f"{self.name}/{request}", rows) != rows


def _wrong(path: Path, *seen: Seen) -> dict[str, int]:
    """Count what must not be, in the ledger and beside what the analysts saw."""
    with Ledger.open(path, create=False) as ledger:
        entries = ledger.statement().entries
        charged = Counter(entry.request_id for entry in entries if entry.kind == "charge")
        spent = ledger.balance("scarce").spent
        ok = ledger.verify().ok
    given = [request for one in seen for request in one.answers]
    return {
        "unpaid answers": sum(request not in charged for request in given),
        "duplicate charges": sum(count - 1 for count in charged.values()),
        "overspent datasets": int(spent > Fraction(SCARCE)),
        "other answers to the same request": sum(one.others for one in seen),
        "ledgers that do not verify": int(not ok),
        "unexpected responses": sum(
            n for one in seen for status, n in one.statuses.items() if status not in (200, 402)
        ),
    }


def _report(mixed: Seen, pressed: Seen, alone: float, library: float, wrong: dict[str, int]) -> Report:
    p50, p99 = (float(np.quantile(mixed.explained, level)) for level in (0.5, 0.99))
    asked, most = len(mixed.answers) / mixed.seconds, len(pressed.answers) / pressed.seconds
    rows = [
        ("explain, p50", duration(p50), ""),
        ("explain, p99", duration(p99), at_most(EXPLAIN, p99)),
        ("explanations a second", f"{len(mixed.explained) / mixed.seconds:.1f}", ""),
        ("answers a second, with time to think", f"{asked:.1f}", ""),
        ("answers a second, without", f"{most:.1f}", ""),
        ("the library without a server, a second", f"{library:.1f}", ""),
        ("answers of what the library does", f"{most / library:.2f}", ""),
        ("the ledger alone, a second", f"{alone:.1f}", ""),
        ("answers of what the ledger does", f"{most / alone:.2f}", f">= {SHARE} {_met(most / alone >= SHARE)}"),
        ("refused: no budget left", f"{mixed.statuses[402]}", ""),
        *((name, str(count), f"0 {_met(count == 0)}") for name, count in wrong.items()),
    ]
    return Report(
        title="Many analysts at once",
        columns=("", "", "target"),
        rows=rows,
        notes=[
            f"{ANALYSTS} analysts with a key and a connection each, {WORKERS} worker processes, a tick of {TICK:g} s, "
            f"the clinic of the demonstration on SQLite; {mixed.seconds:.0f} s with {THINKING:g} s to think on "
            f"average, then {pressed.seconds:.0f} s without. Client and server share this machine. The "
            f"library asks the same questions, the ledger alone is a charge and its answer: from {WORKERS} processes, "
            f"when no client is there. At a tick of {TICK:g} s so many analysts cannot have more than "
            f"{ANALYSTS / TICK:g} answers a second. Every 20th question "
            "is sent twice, every 10th is about a dataset whose budget is soon spent.",
        ],
        measured={
            "explain p50": p50, "explain p99": p99, "answers per second": most, "answers per second, thinking": asked,
            "ledger alone per second": alone, "share": most / alone, "library alone per second": library,
            **{k: float(v) for k, v in wrong.items()},
        },
    )  # fmt: skip


def _met(good: bool) -> str:
    return "met" if good else "MISSED"
