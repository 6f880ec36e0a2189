"""What the time of a response tells from outside: about a unit in the table, and about a key."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from uuid import uuid4

import duckdb
import httpx2
import numpy as np

from benchmarks.report import Report, duration
from benchmarks.served_clinic import ServedClinic, bearer, contract
from benchmarks.timing_leak import Floats, auc
from inbounds.server.people.key import mint, prefix_of

TICK = 0.5
AT_ONCE = 8
"""Questions at once, to both tables together: so few that they are answered before the first tick."""
ROWS = 500_000
"""Rows of the one patient whom the other table does not have."""
NEAR = 0.02

TABLES = ("with_her", "without_her")
QUESTION = "SELECT clinic, AVG(minutes) FROM {table} GROUP BY clinic"


def run(each: int) -> Report:
    """Ask both tables in random order, with ticks and, as a negative control, without."""
    timed, control = f"ticks of {TICK:g} s", "no ticks: the control"
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        clinic = _clinic(Path(folder))
        found = {}
        with clinic.running():
            asyncio.run(_asked(clinic, 50, AT_ONCE))  # warm up
            found[timed] = asyncio.run(_asked(clinic, each, AT_ONCE))
        with clinic.running("benchmarks.untimed_server"):
            asyncio.run(_asked(clinic, 50, AT_ONCE))
            found[control] = asyncio.run(_asked(clinic, each // 2, AT_ONCE))
            found[f"{control}, one at a time"] = asyncio.run(_asked(clinic, each // 2, 1))
    rows: list[tuple[str, ...]] = []
    measured: dict[str, float] = {}
    for name, (first, second) in found.items():
        area, chance = auc(first, second), _chance(len(first), len(second))
        near, far = abs(area - 0.5) <= NEAR, area > 0.5 + chance
        goal = f"0.5 +- {NEAR} {_met(near)}" if name == timed else f"> {0.5 + chance:.3f} {_met(far)}"
        medians = (duration(float(np.median(one))) for one in (first, second))
        rows.append((name, f"{area:.3f}", f"{chance:.3f}", *medians, goal))
        measured[f"AUC, {name}"] = area
    late = [float(np.mean(one > 1.5 * TICK)) for one in found[timed]]
    return Report(
        title="What the time of an answer tells about one patient",
        columns=("", "AUC", "chance", "with", "without", "target"),
        rows=rows,
        notes=[
            f"{each} questions to each of two tables, one of which has one patient more, with {ROWS} rows; in random "
            f"order, {AT_ONCE} at once, half as many without ticks. With and without: medians. Chance: three "
            "standard deviations of the AUC if time tells nothing. At a later tick than the first came "
            f"{late[0]:.1%} of the answers with that patient, {late[1]:.1%} without: that is observable.",
        ],
        measured={**measured, "late, with": late[0], "late, without": late[1]},
    )


def _met(good: bool) -> str:
    return "met" if good else "MISSED"


def run_keys(each: int) -> Report:
    """Show wrong keys: of a prefix that exists or not, wrong at the beginning or at the end."""
    with tempfile.TemporaryDirectory() as folder:
        clinic = ServedClinic.build(Path(folder), {"visits": contract("visits", 5, 1)}, 1)
        right = clinic.keys["a0"]
        with clinic.running(), httpx2.Client(base_url=clinic.file.url, trust_env=False) as client:
            _shown(client, right, 100)
            found = _shown(client, right, each)
    chance = _chance(each, each)
    pairs = (("known prefix", "unknown prefix"), ("wrong at the end", "wrong at the start"))
    areas = {f"{first}, or {second}": auc(found[first], found[second]) for first, second in pairs}
    rows = [
        (name, f"{area:.3f}", f"0.5 +- {NEAR} {'met' if abs(area - 0.5) <= NEAR else 'MISSED'}")
        for name, area in areas.items()
    ]
    return Report(
        title="What the time of a refusal tells about a key",
        columns=("", "AUC", "target"),
        rows=rows,
        notes=[
            f"{each} wrong keys of each kind, in random order, one after the other on one connection. Chance stays "
            f"within 0.5 +- {chance:.3f}. A prefix is no secret."
        ],
        measured=areas,
    )


def _clinic(folder: Path) -> ServedClinic:
    contracts = {}
    for table in TABLES:
        text = contract(table, 10**6, TICK)
        contracts[table] = text.replace('source = "visits.parquet"', f'source = "{table}.parquet"')
    clinic = ServedClinic.build(folder, contracts, AT_ONCE)
    visits = f"SELECT * FROM '{folder}/visits.parquet'"
    one = f"SELECT v.* REPLACE (-1 AS patient) FROM ({visits} LIMIT 1) v, range({ROWS})"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({visits}) TO '{folder}/{TABLES[1]}.parquet' (FORMAT parquet)")
        connection.execute(f"COPY ({visits} UNION ALL {one}) TO '{folder}/{TABLES[0]}.parquet' (FORMAT parquet)")
    return clinic


async def _asked(clinic: ServedClinic, each: int, at_once: int) -> tuple[Floats, Floats]:
    """Return the seconds that questions to either table took."""
    order = iter(np.random.default_rng().permutation(np.repeat([0, 1], each)).tolist())
    taken: tuple[list[float], list[float]] = [], []

    async with httpx2.AsyncClient(base_url=clinic.file.url, timeout=120, trust_env=False) as client:

        async def ask_on(key: str) -> None:
            for at in order:
                table = TABLES[at]
                body = {"sql": QUESTION.format(table=table), "epsilon": "0.001"}
                headers = {**bearer(key), "Idempotency-Key": uuid4().hex}
                begun = perf_counter()
                response = await client.post(f"/v1/datasets/{table}/answers", json=body, headers=headers)
                taken[at].append(perf_counter() - begun)
                response.raise_for_status()

        keys = [key for name, key in clinic.keys.items() if name != "carla"]
        await asyncio.gather(*map(ask_on, keys[:at_once]))
    return np.array(taken[0]), np.array(taken[1])


def _shown(client: httpx2.Client, right: str, each: int) -> dict[str, Floats]:
    """Return the seconds that refusals of each kind took."""
    head, secret = right[: -len("x" * 43)], right[-43:]
    wrong: dict[str, Callable[[], str]] = {
        "known prefix": lambda: f"inb_{prefix_of(right)}_{mint()[-43:]}",
        "unknown prefix": mint,
        "wrong at the end": lambda: f"{head}{secret[:-2]}{_other(secret[-2])}{secret[-1]}",
        "wrong at the start": lambda: f"{head}{_other(secret[0])}{secret[1:]}",
    }
    taken: dict[str, list[float]] = {name: [] for name in wrong}
    for name in np.random.default_rng().permutation(np.repeat(list(wrong), each)).tolist():
        headers = bearer(wrong[name]())
        begun = perf_counter()
        response = client.get("/v1/me", headers=headers)
        taken[name].append(perf_counter() - begun)
        assert response.status_code == 401
    return {name: np.array(times) for name, times in taken.items()}


def _other(letter: str) -> str:
    return "A" if letter != "A" else "B"


def _chance(first: int, second: int) -> float:
    return 3 * math.sqrt((first + second + 1) / (12 * first * second))
