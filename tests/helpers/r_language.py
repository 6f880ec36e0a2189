"""R, and the R package, installed for the tests that run it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.engine_places import absent
from tests.helpers.programs import PATIENCE, ROOT

PACKAGE = ROOT / "clients" / "r"

ZONE = "America/New_York"
"""Where R thinks it is: times must not depend on that."""


def asked_for() -> str:
    """Return the path of Rscript; the test is skipped where none was asked for."""
    found = os.environ.get("INBOUNDS_TEST_R")
    if not found:
        absent("no R asked for: set INBOUNDS_TEST_R to the path of Rscript, which scripts/r prints")
    return found or ""


@dataclass(frozen=True)
class R:
    """R with the package in a library of its own."""

    program: str
    library: Path

    @classmethod
    def install(cls, library: Path) -> R:
        """Install the package into a folder, from where nothing is written beside its sources."""
        program = asked_for()
        library.mkdir()
        installed = cls(program, library)
        words = f'install.packages("{PACKAGE}", "{library}", repos = NULL, type = "source", INSTALL_opts = "--no-docs")'
        installed.run(f"{words}; library(inbounds)")
        return installed

    @contextmanager
    def running(self, code: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Run R code in a process of its own for the time of the block."""
        environ = {**os.environ, "R_LIBS": str(self.library), "TZ": ZONE, "LANG": "C.UTF-8", **environment}
        command = [self.program, "--no-init-file", "-e", code]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, text=True, env=environ, **streams) as process:  # type: ignore[call-overload]
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def run(self, code: str, **environment: str) -> str:
        """Run R code to its end, and return what it printed; it must end well."""
        with self.running(code, **environment) as process:
            said, complained = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, f"{said}\n{complained}"
        return str(said)
