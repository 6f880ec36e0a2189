"""All spellings: the table that the page "SQL you know" is made of."""

from __future__ import annotations

from inbounds.query.spelling.clauses import CLAUSES
from inbounds.query.spelling.days import DAY_SPELLINGS
from inbounds.query.spelling.functions import FUNCTIONS
from inbounds.query.spelling.joins import JOINS
from inbounds.query.spelling.measures import MEASURES
from inbounds.query.spelling.modes import MODES
from inbounds.query.spelling.spelling import Spelling
from inbounds.query.spelling.texts import TEXTS

SPELLINGS: tuple[Spelling, ...] = (*CLAUSES, *JOINS, *MEASURES, *MODES, *FUNCTIONS, *TEXTS, *DAY_SPELLINGS)
