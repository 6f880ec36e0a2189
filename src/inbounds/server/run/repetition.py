"""Names that a program says twice, in an address or a body: of two, another reader may believe the other."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from inbounds.exact.rational import shown
from inbounds.server.basics.problem import Problem

PROGRAMS = "/v1/"
"""Where programs ask; of the fields of a page's form the last counts, as in every browser."""


def refuse_repeated(path: str, query: bytes, body: bytes) -> None:
    """Refuse a request of a program in which a name is there twice."""
    if not path.startswith(PROGRAMS):
        return
    _once(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    try:
        json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError):  # what is no JSON is refused where it is read, to those who are known
        return


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise Problem("invalid-request", f"{shown(name)} must be there once, got it twice; leave one out")
        values[name] = value
    return values
