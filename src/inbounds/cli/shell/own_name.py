"""What the command is called here, for texts that show how to go on."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def find_command() -> str:
    """Return how to call the command from here, also in an environment that is not active."""
    called = Path(sys.argv[0])
    elsewhere = shutil.which("inbounds") is None and called.name == "inbounds"
    return str(called) if elsewhere and not called.is_absolute() else "inbounds"
