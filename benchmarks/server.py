"""The server from outside, on loopback: load, what time tells, and how soon it is there."""

from __future__ import annotations

from benchmarks import server_kills, server_load, server_restarts, server_start, server_timing
from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series

SECONDS = 60.0


def run(peers: PeerProcess | None = None, *, quick: bool, seconds: float | None = None) -> Series:
    """Start it, let many ask for so many seconds, and time what they see."""
    return Series(
        (
            server_start.run(3 if quick else 7),
            server_load.run(seconds or (10.0 if quick else SECONDS)),
            server_timing.run_keys(500 if quick else 5000),
            server_timing.run(200 if quick else 5000),
        )
    )


def run_kills(peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Kill it, and its workers, at random."""
    return server_kills.run(20 if quick else 200)


def run_restarts(peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """End it in every way while analysts ask, and start it again at once."""
    return server_restarts.run(8 if quick else 50)
