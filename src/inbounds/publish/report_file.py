"""The file of a report: SQL, with a header of comments for the report and one for each of its questions.

    -- report: clinic_year
    -- title: The clinic's year
    -- total: 2.0

    -- name: visits_by_clinic
    -- weight: 2
    SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic;

All faults are told at once, each with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from inbounds.display.suggestion import find_nearest, list_names
from inbounds.errors import InvalidParameter, InvalidQuestion, InvalidReport
from inbounds.exact.amount import format_amount, fraction, units
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import as_written, shown
from inbounds.publish.sql_tokens import read_comments, slice_of, split_at, tokenize, unclosed_line
from inbounds.query.ask.privacy_options import cut_options, drop_options
from inbounds.report.report import EDITION, LONGEST_NAME, NAME, ChartKind

HEAD_KEYS = ("report", "title", "description", "edition", "total", "consistent")
QUESTION_KEYS = ("name", "title", "description", "epsilon", "error", "rows", "weight", "chart")
KEYS = tuple(dict.fromkeys((*HEAD_KEYS, *QUESTION_KEYS)))
"""What may stand in a header."""

SYNONYMS = {"cost": "epsilon", "budget": "total", "accuracy": "error", "version": "edition", "picture": "chart"}
"""Other words for them."""

CHARTS: tuple[str, ...] = get_args(ChartKind)
"""The kinds of chart that can be asked for."""

COSTS = ("epsilon", "error", "weight")
"""What says how much a question may cost; one of them is given."""

_HEADER = re.compile(r"([A-Za-z][A-Za-z_-]*)[ \t]*:(?!//)[ \t]*(.*)", re.DOTALL)
_PER_CENT = re.compile(r"(.*?)[ \t]*%")


@dataclass(frozen=True)
class ReportQuestion:
    """One question of a report, as it was written, with what it may cost: one of the last three."""

    name: str
    title: str
    sql: str
    line: int
    """Where its SQL begins."""
    description: str | None = None
    chart: str | None = None
    epsilon: Fraction | None = None
    error: Fraction | str | None = None
    """The error that is wanted: a number, or a text such as "2 %"."""
    rows: int | None = None
    """How many rows are assumed in each group, where an error depends on that."""
    weight: Fraction | None = None
    """Which part it has of what the others leave of the total."""


@dataclass(frozen=True)
class ReportFile:
    """A report, before anything of it is asked."""

    name: str
    title: str
    questions: tuple[ReportQuestion, ...]
    description: str | None = None
    edition: str | None = None
    total: Fraction | None = None
    """What all questions together may cost."""
    consistent: bool = True
    """Whether questions about the same counts are asked together, so that their numbers agree."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ReportFile:
        """Read the file of a report."""
        try:
            text = Path(path).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidReport(f"{Path(path).name} is not UTF-8; save it as UTF-8") from None
        return cls.parse(text, Path(path).name)

    @classmethod
    def parse(cls, text: str, name: str = "the report") -> ReportFile:
        """Read the text of a report; `name` is what messages call it."""
        return _Reader(text, name).read()


def refuse_faults(name: str, faults: Iterable[tuple[int, str]]) -> None:
    """Raise one error that tells all faults, in the order of their lines; do nothing if there are none."""
    told = tuple(dict.fromkeys(f"line {line}: {fault}" for line, fault in sorted(faults)))
    if not told:
        return
    begun = f"{name} has {len(told)} faults; correct each of them:"
    problem = InvalidReport(f"{name}, {told[0]}" if len(told) == 1 else "\n  ".join((begun, *told)))
    problem.faults = told
    raise problem


@dataclass
class _Section:
    """The headers of the report or of a question, and the tokens of its SQL."""

    line: int
    headers: dict[str, tuple[int, str]] = field(default_factory=dict)
    tokens: list[Token] = field(default_factory=list)


class _Reader:
    """Takes a text apart, and notes what is wrong with it."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        self._faults: list[tuple[int, str]] = []

    def read(self) -> ReportFile:
        # 1. Headers and tokens, in the order in which they stand.  2. Sections: the head, then a question each.
        # 3. Each section by itself.  4. What the costs of all of them come to.  Then all faults are told.
        try:
            tokens = tokenize(self._text)
        except TokenError:
            line = unclosed_line(self._text)
            refuse_faults(self._name, [(line, "a quote or a comment that begins here is never closed; close it")])
            raise
        head, sections = self._split(tokens)
        report = self._read_head(head, sections)
        refuse_faults(self._name, self._faults)
        return report

    def _refuse(self, line: int, fault: str) -> None:
        self._faults.append((line, fault))

    def _line(self, place: int) -> int:
        return self._text.count("\n", 0, place) + 1

    # Sections.

    def _split(self, tokens: list[Token]) -> tuple[_Section, list[_Section]]:
        """Return the head, and a section for each question."""
        head = _Section(1)
        sections: list[_Section] = []
        for place, part in self._parts(tokens):
            section = sections[-1] if sections else head
            if isinstance(part, Token):
                section.tokens.append(part)
                continue
            key, value = part
            if key == "name":
                section = _Section(self._line(place))
                sections.append(section)
            self._add_header(section, self._line(place), key, value, in_head=not sections)
        if head.tokens:
            fault = "SQL stands before the first question; write -- name: and a name above it"
            self._refuse(self._line(head.tokens[0].start), fault)
        return head, sections

    def _parts(self, tokens: list[Token]) -> Iterator[tuple[int, Token | tuple[str, str]]]:
        """Yield tokens and headers as they stand one after the other."""
        parts: list[tuple[int, Any]] = [(token.start, token) for token in tokens]
        for comment in read_comments(self._text, tokens):
            header = _HEADER.fullmatch(comment.text)
            if header is not None:
                parts.append((comment.start, (header[1].lower(), header[2].strip())))
        yield from sorted(parts, key=lambda part: part[0])

    def _add_header(self, section: _Section, line: int, key: str, value: str, *, in_head: bool) -> None:
        if section.tokens or (in_head and key != "report" and "report" not in section.headers):
            if key in KEYS:  # any other comment stays a comment
                where = "below -- report:" if in_head else "above the SQL of its question"
                self._refuse(line, f"-- {key}: stands in no header; move it {where}")
            return
        known = HEAD_KEYS if in_head else QUESTION_KEYS
        if key not in known:
            self._refuse(line, _describe_unknown(key, known, in_head=in_head))
        elif key in section.headers:
            self._refuse(line, f"-- {key}: is given twice, first in line {section.headers[key][0]}; give it once")
        elif not value:
            self._refuse(line, f"-- {key}: has nothing after it; complete it, or leave it out")
        else:
            section.headers[key] = line, value

    # Headers.

    def _read_head(self, head: _Section, sections: list[_Section]) -> ReportFile:
        if "report" not in head.headers and not any("-- report:" in fault for _, fault in self._faults):
            self._refuse(1, "a report needs a name; begin with -- report: and a name, such as -- report: year")
        name = self._take(head, "report", _read_name) or "report"
        total = self._take(head, "total", _read_total)
        if not sections:
            self._refuse(self._line(len(self._text)), "a report needs a question; add -- name: and a SELECT below it")
        questions = tuple(self._read_question(section, in_total="total" in head.headers) for section in sections)
        self._refuse_doubles(sections, questions)
        self._check_total(head, questions, total)
        consistent = self._take(head, "consistent", _read_yes)
        return ReportFile(
            name,
            _text_of(head, "title") or _to_title(name),
            questions,
            _text_of(head, "description"),
            self._take(head, "edition", _read_edition),
            total,
            consistent is not False,
        )

    def _read_question(self, section: _Section, *, in_total: bool) -> ReportQuestion:
        name = self._take(section, "name", _read_name) or ""
        costs: dict[str, Any] = {"epsilon": self._take(section, "epsilon", _read_amount)}
        costs["error"] = self._take(section, "error", read_error)
        costs["rows"] = self._take(section, "rows", _read_rows)
        costs["weight"] = self._take(section, "weight", _read_weight)
        sql, line = self._read_sql(section)
        sql, stated = self._take_stated(sql, line)
        self._check_costs(section, line, stated, in_total=in_total)
        if stated is not None:
            costs["epsilon"] = stated
        elif in_total and not any(key in section.headers for key in COSTS):
            costs["weight"] = Fraction(1)
        chart = self._take(section, "chart", _read_chart)
        title = _text_of(section, "title") or _to_title(name)
        return ReportQuestion(name, title, sql, line, _text_of(section, "description"), chart, **costs)

    def _take(self, section: _Section, key: str, read: Callable[[str], Any]) -> Any:
        """Return what a header says, None if it is not there or wrong."""
        if key not in section.headers:
            return None
        line, value = section.headers[key]
        try:
            return read(value)
        except InvalidParameter as problem:
            self._refuse(line, str(problem))
            return None

    def _read_sql(self, section: _Section) -> tuple[str, int]:
        statements = [tokens for tokens in split_at(section.tokens, TokenType.SEMICOLON) if tokens]
        if not statements:
            self._refuse(section.line, "the question has no SQL; write a SELECT below its header")
            return "", section.line
        line = self._line(statements[0][0].start)
        if len(statements) > 1:
            second = self._line(statements[1][0].start)
            self._refuse(second, "a question is one SELECT, got another one; write -- name: and a name above it")
        return slice_of(self._text, statements[0]), line

    def _take_stated(self, sql: str, line: int) -> tuple[str, Fraction | None]:
        """Return SQL without what it says of privacy, and the epsilon that it says."""
        try:
            _, options = cut_options(sql)
            epsilon = options.epsilon
        except (InvalidQuestion, InvalidParameter) as problem:
            self._refuse(line, str(problem).partition("\n")[0])
            return sql, None
        others = [option.name for option in options.options if option.name != "epsilon"]
        if others:
            self._refuse(line, f"in a report, OPTIONS say epsilon only, got {list_names(others)}; leave the rest out")
        return drop_options(sql), epsilon

    # Costs.

    def _check_costs(self, section: _Section, sql_line: int, stated: Fraction | None, *, in_total: bool) -> None:
        given = [key for key in COSTS if key in section.headers]
        if stated is not None:
            known = self._take(section, "epsilon", _read_amount) if given == ["epsilon"] else None
            if given and known != stated:
                fault = f"its SQL says epsilon = {amount_text(stated)}, and its header has another cost"
                self._refuse(sql_line, f"{fault}; leave one of them out")
            given = ["epsilon"]
        if len(given) > 1:
            line = section.headers[given[1]][0]
            self._refuse(line, f"a question has one of epsilon, error and weight, got {' and '.join(given)}; keep one")
        elif not given and not in_total:
            fault = "the question has no cost; add -- epsilon: 0.5, or -- error: 20, to its header"
            self._refuse(section.line, fault)
        elif given == ["weight"] and not in_total:
            line = section.headers["weight"][0]
            self._refuse(line, "a weight divides a total, got none; add -- total: 2 to the head, or give an epsilon")
        if "rows" in section.headers and "error" not in section.headers:
            line = section.headers["rows"][0]
            self._refuse(line, "rows are assumed for a wanted error, got none; add -- error: 20, or leave them out")

    def _refuse_doubles(self, sections: list[_Section], questions: tuple[ReportQuestion, ...]) -> None:
        names = [question.name for question in questions]
        for place, name in enumerate(names):
            if name and name in names[:place]:
                line = sections[names.index(name)].line
                fault = f"two questions are called {name}, the first in line {line}; call this one {_free(name, names)}"
                self._refuse(sections[place].line, fault)

    def _check_total(self, head: _Section, questions: tuple[ReportQuestion, ...], total: Fraction | None) -> None:
        fixed = sum((question.epsilon for question in questions if question.epsilon is not None), Fraction(0))
        if total is None or fixed < total or (fixed == total and all(q.epsilon is not None for q in questions)):
            return
        others = [question.name for question in questions if question.epsilon is None]
        left = f", and nothing is left for {list_names(others)}" if others else ""
        fault = f"the total is {amount_text(total)}, got questions that cost {amount_text(fixed)}{left}"
        self._refuse(head.headers["total"][0], f"{fault}; raise the total, or lower an epsilon")


def amount_text(epsilon: Fraction) -> str:
    """Return an amount of epsilon as a header has it."""
    return format_amount(units(epsilon)) if epsilon else "0"


def _text_of(section: _Section, key: str) -> str | None:
    return section.headers[key][1] if key in section.headers else None


def _describe_unknown(key: str, known: tuple[str, ...], *, in_head: bool) -> str:
    where = "the head of a report" if in_head else "the header of a question"
    near = find_nearest(key, known, {word: meant for word, meant in SYNONYMS.items() if meant in known})
    if near:
        return f"there is no -- {key}: in {where}; did you mean {near[0]}?"
    if key in KEYS:
        other = "above the first question" if key in HEAD_KEYS else "below the -- name: of a question"
        return f"there is no -- {key}: in {where}; it stands {other}"
    return f"there is no -- {key}: in {where}, which has {list_names(known)}; in a comment, leave the colon out"


def _read_name(text: str) -> str:
    if re.fullmatch(NAME, text):
        return text
    raise InvalidParameter(
        f"a name has up to {LONGEST_NAME} lower-case letters, digits and underscores, a letter first, got "
        f"{shown(text)}; call it {_to_name(text)}"
    )


def _to_name(text: str) -> str:
    """Return the name that is nearest to a text."""
    letters = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return (letters if letters[:1].isalpha() else f"q_{letters}".rstrip("_"))[:LONGEST_NAME]


def _free(name: str, names: list[str]) -> str:
    """Return a name that no question has."""
    return next(free for number in range(2, len(names) + 3) if (free := f"{name[:60]}_{number}") not in names)


def _to_title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _read_number(text: str, what: str, like: str) -> Fraction:
    decimal = typed_decimal(text)
    if decimal is None or not decimal.is_finite() or decimal <= 0:
        raise InvalidParameter(f"{what} must be a number above 0, got {shown(text)}; write it like {like}")
    return as_written(decimal, what, InvalidParameter)


def _read_amount(text: str) -> Fraction:
    return fraction(units(_read_number(text, "epsilon", "0.5")))


def _read_total(text: str) -> Fraction:
    return fraction(units(_read_number(text, "a total", "2")))


def _read_weight(text: str) -> Fraction:
    return _read_number(text, "a weight", "2")


def _read_rows(text: str) -> int:
    if re.fullmatch("[1-9][0-9]{0,14}", text, re.ASCII):
        return int(text)
    raise InvalidParameter(f"rows must be a whole number above 0, got {shown(text)}; write it like 1000")


def read_error(text: str) -> Fraction | str:
    """Read a wanted error: a number, or a part of something."""
    part = _PER_CENT.fullmatch(text)
    number = _read_number(text if part is None else part[1], "an error", "20, or 2 %")
    return number if part is None else f"{part[1]} %"


def _read_edition(text: str) -> str:
    if re.fullmatch(EDITION, text):
        return text
    raise InvalidParameter(
        f"an edition has up to 30 letters, digits, dots, dashes and underscores, got {shown(text)}; write it like "
        "2026-11"
    )


def _read_chart(text: str) -> str:
    if text in CHARTS:
        return text
    near = find_nearest(text, CHARTS)
    remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(CHARTS)}"
    raise InvalidParameter(f"there is no chart {shown(text)}; {remedy}")


def _read_yes(text: str) -> bool:
    if text.lower() in ("yes", "no"):
        return text.lower() == "yes"
    raise InvalidParameter(f"consistent is yes or no, got {shown(text)}; write one of them")
