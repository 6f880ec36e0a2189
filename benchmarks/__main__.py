"""Run the benchmarks and print what they found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import (
    arrays,
    construction,
    coverage,
    joint,
    joint_check,
    joint_scale,
    joint_split,
    ledger,
    limit,
    many_keys,
    pages,
    questions,
    row_weights,
    scalar,
    server,
    tables,
    timing_leak,
    told_noise,
    totals,
    tpch,
)
from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series

BENCHMARKS: dict[str, Callable[..., Report | Series]] = {
    "arrays": arrays.run,
    "scalar": scalar.run,
    "construction": construction.run,
    "growth": construction.run_growth,
    "timing-leak": timing_leak.run,
    "evenness": timing_leak.run_evenness,
    "limit": limit.run,
    "ledger": ledger.run,
    "tables": tables.run,
    "pages": pages.run,
    "questions": questions.run,
    "many-keys": many_keys.run,
    "totals": totals.run,
    "tpch": tpch.run,
    "row-weights": row_weights.run,
    "told-noise": told_noise.run,
    "coverage": coverage.run,
    "joint": joint.run,
    "joint-split": joint_split.run_split,
    "joint-scale": joint_scale.run,
    "joint-check": joint_check.run,
    "server": server.run,
    "server-kills": server.run_kills,
    "server-restarts": server.run_restarts,
}
WITH_OWN_PEERS: dict[str, Callable[..., Report | Series]] = {
    "tables": tables.run,
    "joint": joint.run,
    "joint-split": joint_split.run_split,
    "row-weights": row_weights.run,
    "coverage": coverage.run,
}
"""Their peers run in processes of their own, some of them in other environments; or their data are there."""


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all unless given: {', '.join(BENCHMARKS)}")
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="the interpreter that has the peers")
    parser.add_argument("--quick", action="store_true", help="less work, rougher figures")
    parser.add_argument("--seconds", type=float, help="how long analysts ask the server; a minute unless given")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")

    benchmarks = BENCHMARKS | {name: partial(run, interpreter=arguments.peers) for name, run in WITH_OWN_PEERS.items()}
    benchmarks["server"] = partial(server.run, seconds=arguments.seconds)
    names = arguments.names or list(benchmarks)
    figures = {}
    with PeerProcess(arguments.peers) as peers:
        if not arguments.json:
            missing = [peer for peer, version in peers.versions.items() if version is None]
            print("Peers:", ", ".join(filter(None, peers.versions.values())) or "none")
            if missing:
                print("Not installed here, so left out:", ", ".join(missing))
            print()
        for name in names:
            report = benchmarks[name](peers, quick=arguments.quick)
            figures[name] = report.measured
            if not arguments.json:
                print(report, flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
