"""Our side of the peers' process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parent.parent


class PeerProcess:
    """The peers, running in an interpreter of their own; none of them when there is no such interpreter."""

    def __init__(self, interpreter: Path | None) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.versions: dict[str, str | None] = {}
        if interpreter is not None and interpreter.exists():
            self._process = subprocess.Popen(
                [interpreter, "-m", "benchmarks.peers"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.versions = self._ask({"task": "versions"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    @property
    def present(self) -> list[str]:
        """The peers that can be measured."""
        return [peer for peer, version in self.versions.items() if version is not None]

    def measure(self, peer: str, task: str, **request: object) -> Any:
        """Have one peer do one task now, and return what it measured."""
        return self._ask({"task": task, "peer": peer, **request})

    def _ask(self, request: dict[str, object]) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the peers' process ended early; its own message is above")
        return json.loads(answer)
