"""For the site: examples in docstrings become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^.+\n?)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences every run of lines that begins with `>>>`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change a docstring once it is read."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{found[0].rstrip()}\n```\n"
