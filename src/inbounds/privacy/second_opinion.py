"""What a program that shares nothing with this package says of a certificate.

It is `checker/check_certificate.py`, 400 lines of plain Python, installed beside the package as `inbounds_checker`.  It
is run in a process of its own, which imports nothing of ours, and gets the text of the certificate.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from inbounds.errors import InboundsError

PACKAGE = Path(__file__).parents[1]

PLACES = (PACKAGE.parent / "inbounds_checker.py", PACKAGE.parents[1] / "checker" / "check_certificate.py")
"""Where it is, installed or among the sources."""

SECONDS = 60
"""After so long nothing is told."""

HOLDS, CANNOT_TELL, REFUTED = 0, 3, 4
"""Its exit codes."""


class Opinion(NamedTuple):
    """What was found of a certificate."""

    holds: bool
    refuted: bool
    finding: str
    """The same in words: it begins with "holds", "refuted" or "cannot tell"."""


def second_opinion(certificate: str) -> Opinion:
    """Check a certificate, given as JSON, by a program that uses nothing of this package."""
    program = next((place for place in PLACES if place.is_file()), None)
    if program is None or not sys.executable:
        raise InboundsError(
            "the program that checks certificates was not found beside the package; install inbounds again, or run "
            "checker/check_certificate.py from its sources"
        )
    command = [sys.executable, "-I", str(program), "-"]
    try:
        done = subprocess.run(
            command, input=certificate.encode("utf-8", "replace"), capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Opinion(holds=False, refuted=False, finding=f"cannot tell: it was not decided in {SECONDS} seconds")
    if done.returncode not in {HOLDS, CANNOT_TELL, REFUTED}:
        return Opinion(holds=False, refuted=False, finding="cannot tell: the program that checks it did not end well")
    finding = done.stdout.decode("utf-8", "replace").strip()
    return Opinion(done.returncode == HOLDS, done.returncode == REFUTED, finding)
