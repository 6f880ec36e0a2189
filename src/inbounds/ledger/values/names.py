"""Names and texts that a ledger can keep: every store gives them back as they were."""

from __future__ import annotations

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

LONGEST_NAME = 200

LONGEST_TEXT = 16_000_000


def check_name(value: object, what: str) -> str:
    """Return the name of a dataset, an analyst or a request, if it can be one."""
    if isinstance(value, str) and value.isprintable() and value.strip() and len(value) <= LONGEST_NAME:
        return value
    raise InvalidParameter(
        f"{what} must be a printable text of 1 to {LONGEST_NAME} characters, got {shown(value)}; choose another name"
    )


def check_text(value: object, what: str) -> str:
    """Return a free text, if it can be kept; a message does not show it, for it may be an answer."""
    if isinstance(value, str) and len(value) <= LONGEST_TEXT and "\0" not in value and _encodable(value):
        return value
    raise InvalidParameter(
        f"{what} must be a text of at most {LONGEST_TEXT} characters without NUL and lone surrogates, "
        f"got a value of type {type(value).__name__}; give a shorter or plainer text"
    )


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
