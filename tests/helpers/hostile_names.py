"""A hospital whose names all try to be more than names: of a dataset, a column, its keys, a person."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.named_hospital import Ward
from tests.helpers.served_hospital import Served

TAG = "<img src=x onerror=alert(7)>"
QUOTE = "\"'><script>alert(7)</script>"
KEYS = ("</td><svg onload=alert(7)>", "{{'zy'*3}}", "javascript:alert(7)", QUOTE)
PERSON = f"mallory {TAG}"
DATASET = f"ward {TAG}"
COLUMN = f"age {QUOTE}"
DESCRIBED = f"what it is </code></td>{QUOTE}{{{{'zy'*3}}}}"
NOTE = f"because </textarea></p>{QUOTE}{{{{'zy'*3}}}}{TAG}"


def build_hostile(folder: Path) -> Served:
    """Write it into a folder, and issue everybody a key."""
    return Ward(DATASET, COLUMN, KEYS, [PERSON], last=110, rows=200, described=DESCRIBED).build(folder)
