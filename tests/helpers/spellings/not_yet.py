"""What is not yet as it should be: each list may only become shorter (`python -m tests.helpers.spellings --lists`)."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOT_ANSWERED = _names("")
"""Questions that have to be answered, and are refused."""

NOT_AS_IN_SQL = _names("")
"""Questions that are answered otherwise than in SQL."""

NOT_EXPLAINED = _names("")
"""Questions that are rightly refused, for a reason that is not the one."""

NOT_ONE = _names("")
"""Questions of which some spelling is refused, or taken for another question."""
