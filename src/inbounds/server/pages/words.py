"""Small texts of pages: numbers, times and bounds as people read them."""

from __future__ import annotations

import re
from typing import Any

_SPAN = re.compile(r"[\[(](?P<low>[^,\[\]()]+), (?P<high>[^,\[\]()]+)[\])](?: step (?P<step>\S+))?")
_DAYS = re.compile(r"\d+ spans from (?P<low>\S+) to (?P<high>\S+)")


def in_words(bounds: str) -> str:
    """Return possible answers in words where they are a single span; otherwise as they are written."""
    days = _DAYS.fullmatch(bounds)
    if days is not None:
        return f"some days from {days['low']} to {days['high']}"
    found = _SPAN.fullmatch(bounds)
    if found is None:
        return bounds
    low, high, step = found["low"], found["high"], found["step"]
    spoken = {
        (True, True): "any number",
        (True, False): f"up to {high}",
        (False, True): f"{low} or more",
        (False, False): f"{low} to {high}",
    }[low == "-inf", high == "inf"]
    return spoken if step is None else f"{spoken}, whole numbers" if step == "1" else f"{spoken}, in steps of {step}"


def number(cell: Any) -> str:
    """Return a cell as people read it."""
    if cell is None:
        return "none"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.4g}" if abs(cell) < 1e4 else f"{cell:,.1f}"


def moment(time: str) -> str:
    """Return when something was, to the minute."""
    return time[:16].replace("T", " ")


def sentence(text: str) -> str:
    """Return a text that begins with a capital and ends with a stop."""
    begun = f"{text[:1].upper()}{text[1:]}"
    return begun if begun.endswith((".", "!", "?", "^")) else f"{begun}."


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters: of a longer one the beginning and the end, which tell it apart."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[len(text) - end :]}"


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest."""
    first, stop, rest = text.partition(". ")
    return f"{first}{stop.strip()}", rest
