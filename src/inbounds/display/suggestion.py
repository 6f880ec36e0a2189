"""What may have been meant by a name that is not known: the nearest of those that are.

    find_nearest("ages", ["age", "cost"])                          # ["age"]
    suggest("ages", ["age", "cost"], "it has")                     # "did you mean age?"
    suggest("colour", ["age", "cost"], "it has")                   # "it has age, cost"

Only public names may be given: columns and categories of a contract, functions, options.  What is in a row never is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

SIMILAR = 0.6
"""How alike two names must be, in letters, for one to be a misspelling of the other."""

LETTERS_PER_SLIP = 5
"""A word may have one wrong letter, and one more for so many that it has: a short one is soon another word."""

MOST_COMPARED = 2_000
"""Of more names than this, only those that begin or end like the word are compared letter by letter."""

MOST_MEANT = 3
"""No more names than this are suggested at once."""

MOST_LISTED = 10
"""So many names are listed where none is near."""

_APART = re.compile(r"[^0-9a-z]+")


def suggest(
    word: object,
    known: Iterable[object],
    otherwise: str,
    *,
    synonyms: Mapping[str, str] | None = None,
    write: Callable[[str], str] = str,
) -> str:
    """Return a remedy for an unknown name: what may have been meant, else the names that are known.

    `otherwise` is said before the list, and `write` says how a name is typed.
    """
    names = [name if isinstance(name, str) else str(name) for name in known]
    near = find_nearest(word, names, synonyms or {}) if isinstance(word, str) else []
    if near:
        return f"did you mean {' or '.join(map(write, near))}?"
    return f"{otherwise} {list_names(names, write)}"


def list_names(names: Sequence[str], write: Callable[[str], str] = str) -> str:
    """Return the first names of a list, and how many more there are."""
    more = len(names) - MOST_LISTED
    listed = ", ".join(map(write, names[:MOST_LISTED]))
    return f"{listed} and {more} more" if more > 0 else listed


def find_nearest(word: str, known: Sequence[str], synonyms: Mapping[str, str] | None = None) -> list[str]:
    """Return the names that a word spells otherwise, abbreviates, is a part of, is another word for, or misspells.

    They are those of the first of these kinds that there are any of.
    """
    short = _letters(word)
    if not short:
        return []
    letters = {name: _letters(name) for name in known}
    abbreviates = len(short) > 1 or word.startswith("-")  # one letter begins too many names that are not options
    kinds = (
        [name for name in known if letters[name] == short],
        [name for name in known if letters[name].startswith(short)] if abbreviates else [],
        [name for name in known if short in _parts(name)],
        _find_synonyms(word, synonyms or {}),
        _find_misspelt(short, letters),
    )
    return next((names[:MOST_MEANT] for names in kinds if names), [])


def _find_synonyms(word: str, synonyms: Mapping[str, str]) -> list[str]:
    """Return what a word, or one that it begins, is another word for."""
    return list(dict.fromkeys(name for other, name in synonyms.items() if other.lower().startswith(word.lower())))


def _find_misspelt(short: str, letters: Mapping[str, str]) -> list[str]:
    names = {spelling: name for name, spelling in reversed(list(letters.items()))}
    if len(names) > MOST_COMPARED:
        ends = (short[:2], short[-2:])
        alike = [spelling for spelling in names if (spelling[:2], spelling[-2:]) == ends]
        alike += [spelling for spelling in names if spelling[:2] == ends[0] or spelling[-2:] == ends[1]]
        names = {spelling: names[spelling] for spelling in alike[:MOST_COMPARED]}
    most = 1 + len(short) // LETTERS_PER_SLIP
    similar = get_close_matches(short, names, n=MOST_MEANT, cutoff=SIMILAR)
    slips = {spelling: count_slips(short, spelling) for spelling in similar}
    return [names[spelling] for spelling in sorted(similar, key=slips.__getitem__)[:1] if slips[spelling] <= most]


def count_slips(word: str, meant: str) -> int:
    """Return how many letters must be added, left out, replaced or swapped with the next to turn a word into another.

    A row of the table holds the counts from the first letters of `word` to those of `meant`.
    """
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(word, 1):
        last, before, row = before, row, [i]
        for j, other in enumerate(meant, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, word[i - 2]) == (meant[j - 2], other):
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]


def _letters(name: str) -> str:
    """Return a name as it is compared: in small letters, without the dashes before an option."""
    return name.lstrip("-").lower()


def _parts(name: str) -> list[str]:
    return [part for part in _APART.split(_letters(name)) if len(part) > 1]
