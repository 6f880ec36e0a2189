"""What may have been meant by a command or an option that there is not."""

from __future__ import annotations

import re
from difflib import get_close_matches

_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z-]*")
"""Only what looks like this is repeated in a message: anything else may be a true answer in the wrong place."""

SIMILAR = 0.6
"""How alike two names must be, in letters, for one to be a misspelling of the other."""

SYNONYMS = {
    "--domain": "--bounds",
    "--interval": "--bounds",
    "--range": "--bounds",
    "--privacy": "--epsilon",
    "--budget": "--epsilon",
    "--cost": "--epsilon",
    "--contract": "--dataset",
    "--table": "--dataset",
    "--user": "--analyst",
    "--who": "--analyst",
    "--input": "--file",
    "--source": "--file",
    "--output": "--to",
    "--target": "--to",
    "--folder": "--keep",
    "--picture": "--plot",
    "--draw": "--plot",
    "--comment": "--note",
    "--reason": "--note",
    "help": "--help",
    "version": "--version",
    "draw": "release",
    "draft": "init",
    "new": "init",
    "inspect": "check",
    "validate": "check",
    "noise": "release",
    "compare": "plan",
    "recommend": "plan",
    "ask": "query",
    "select": "query",
    "sql": "query",
    "ledger": "budget",
    "spent": "budget",
    "grant": "budget grant",
    "show": "budget show",
    "statement": "budget statement",
    "verify": "budget verify",
    "audit": "budget verify",
    "prove": "certify",
    "proof": "certify",
    "example": "demo",
    "tutorial": "demo",
}
"""Other words for what there is."""


def describe_unknown(kind: str, word: str, known: list[str]) -> str:
    """Say that there is no command or option of a name, if that may be repeated, and what may have been meant."""
    choices = f"choose from {', '.join(known)}"
    if not _NAME.fullmatch(word):
        return f"there is no {kind} by that name; {choices}"
    near = find_nearest(word, known)
    return f"there is no {kind} {word!r}; " + (f"did you mean {' or '.join(near)}?" if near else choices)


def find_nearest(word: str, known: list[str]) -> list[str]:
    """Return the names that a word abbreviates, is a part of, is another word for, or misspells: the first that are."""
    short = strip_dashes(word)
    begun = [name for name in known if strip_dashes(name).startswith(short)]
    parts = [name for name in known if short in strip_dashes(name).split("-")]
    possible = {*known, "--help", "--version"}
    meant = {name: None for other, name in SYNONYMS.items() if other.startswith(word) and name.split()[0] in possible}
    by_letters = {strip_dashes(name): name for name in known}
    misspelt = [by_letters[name] for name in get_close_matches(short, by_letters, n=1, cutoff=SIMILAR)]
    return begun or parts or list(meant) or misspelt


def strip_dashes(name: str) -> str:
    """Return a name without the dashes before it, which all options have in common."""
    return name.lstrip("-").lower()
