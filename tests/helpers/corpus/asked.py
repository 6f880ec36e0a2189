"""A question of the corpus, asked in both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inbounds.query import Dataset, Query, column


@dataclass(frozen=True)
class Asked:
    """A question in SQL, and the same in Python."""

    sql: str
    python: Callable[[Dataset], Query]


AGE, COST, PAIN, CLINIC = column("age"), column("cost"), column("pain"), column("clinic")
SEX, WARD, URGENT = column("sex"), column("ward"), column("urgent")
ADMITTED, DISCHARGED = column("admitted"), column("discharged")
