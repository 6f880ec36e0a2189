"""Programs that tests start: modules of the helpers, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]

PATIENCE = 600
"""After so many seconds something hangs, also on a machine that is busy with other work."""


def run_program(program: ModuleType, *words: str, timeout: float = PATIENCE) -> str:
    """Run a module of the helpers with these words, and return what it printed; it must end well and complain not."""
    command = [sys.executable, "-m", program.__name__, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
