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
    match = _SPAN.fullmatch(bounds)
    if match is None:
        return bounds
    low, high, step = match["low"], match["high"], match["step"]
    words = {
        (True, True): "any number",
        (True, False): f"up to {high}",
        (False, True): f"{low} or more",
        (False, False): f"{low} to {high}",
    }[low == "-inf", high == "inf"]
    return words if step is None else f"{words}, whole numbers" if step == "1" else f"{words}, in steps of {step}"


def format_cell(cell: Any) -> str:
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
    capitalised = f"{text[:1].upper()}{text[1:]}"
    return capitalised if capitalised.endswith((".", "!", "?", "^")) else f"{capitalised}."


def shorten(text: str, most: int) -> str:
    """Return a text of at most so many characters: of a longer one the beginning and the end, which tell it apart."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[len(text) - end :]}"


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest."""
    first, stop, rest = text.partition(". ")
    return f"{first}{stop.strip()}", rest
