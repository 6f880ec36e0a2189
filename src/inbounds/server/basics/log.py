"""What the server tells its operator: one line of JSON for each request, without questions, answers or keys."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from inbounds.server.basics import clock

_TURN = threading.Lock()


def tell(event: str, **facts: Any) -> None:
    """Write one line to standard error."""
    line = json.dumps({"time": clock.now().isoformat(), "event": event, **facts}, ensure_ascii=True, default=str)
    with _TURN:
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads it, and that must stop nothing
            return
