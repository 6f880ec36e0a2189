"""The page of a report: what it is, how to read it, its tables, what it cost, and the report itself inside.

It loads nothing and runs nothing, and says so to the browser.  The same report makes the same page, to the letter.
"""

from __future__ import annotations

import json
from html import escape

from inbounds import __version__
from inbounds.accuracy.confidence import percent
from inbounds.publish.destinations.facts import PRACTICE, notes_of
from inbounds.publish.destinations.page.chart import charts_of
from inbounds.publish.destinations.page.figures import Figures, write_epsilon, write_noise
from inbounds.publish.destinations.page.markup import lines, named, paragraphs, said
from inbounds.publish.destinations.page.page_table import write_page_table, write_value
from inbounds.publish.destinations.page.style import STYLE, WATERMARK
from inbounds.publish.destinations.sheet import Sheet, sheets_of
from inbounds.report.report import PublishedTable, Report

GENERATOR = f"inbounds {__version__}"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

DATA_BEGINS, DATA_ENDS = '<template id="report-data">', "</template>"
"""Around the report as JSON, which a page does not show."""

MARK = '<span class="mark">PRACTICE</span> '
CHECKING = (
    "This page contains the report as data. <code>inbounds publish --verify</code> with the name of this file says "
    "whether every number is still what the digest says. Compare the digest with the one that was published elsewhere. "
    "The contract says what is protected. The ledger records every charge; those for this report come at or before its "
    "head."
)
MOST_BESIDE = 3
"""So many tables need no list of contents."""


def make_page(report: Report) -> str:
    """Return the page."""
    title = f"PRACTICE: {report.title}" if report.practice else report.title
    sheets = sheets_of(report)
    tables = [_write_table(report, sheet, at) for at, sheet in enumerate(sheets, 1)]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="{escape(GENERATOR)}">',
            f'<meta name="description" content="{said(PRACTICE if report.practice else report.title)}">',
            f"<title>{said(title)}</title>",
            f"<style>{STYLE}{WATERMARK if report.practice else ''}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#content">Skip to the content</a>',
            _write_header(report),
            '<main id="content">',
            _write_reading(report),
            _write_contents(report),
            *tables,
            _write_about(report),
            "</main>",
            f"<footer><p>Report {named(report.name)}, published {said(report.published)} with inbounds. This page "
            "loads nothing and runs no program.</p></footer>",
            DATA_BEGINS
            + escape(json.dumps(report.data(), ensure_ascii=False, allow_nan=False), quote=False)
            + DATA_ENDS,
            "</body>",
            "</html>",
            "",
        ]
    )


def _write_header(report: Report) -> str:
    facts = {
        "Published": report.published,
        "Edition": report.edition,
        "Data": report.dataset,
        "Protects": f"each {report.unit}",
        "Privacy cost": f"ε = {write_epsilon(report.epsilon)}",
    }
    strip = "".join(f"<div><dt>{name}</dt><dd>{named(fact)}</dd></div>" for name, fact in facts.items() if fact)
    practice = f'<p class="practice" role="note">{said(PRACTICE)} Do not quote them.</p>' if report.practice else ""
    return "\n".join(
        [
            "<header>",
            practice,
            '<p class="kind">Differentially private statistics</p>',
            f"<h1>{MARK if report.practice else ''}{named(report.title)}</h1>",
            f'<div class="lead">{paragraphs(report.description)}</div>' if report.description else "",
            f'<dl class="strip">{strip}</dl>',
            "</header>",
        ]
    )


def _write_reading(report: Report) -> str:
    answers = [table.answer for table in report.tables]
    sure = sorted({percent(answer.confidence) for answer in answers if any(answer.interval_names)})
    words = [
        f"Random noise was added to the numbers, so that they say nearly the same with any one {report.unit} as "
        "without."
    ]
    if sure:
        words.append(
            f"An interval says where the number without noise lies: it is right in {' or '.join(sure)} of all cases. "
            "Two numbers whose intervals overlap may well be equal."
        )
    if any(size is not None for answer in answers for row in answer.noise for size in row):
        words.append("The expected noise says how far off a number is on average.")
    if any(answer.is_noise_only for answer in answers):
        words.append("Where an interval covers the noise only, a note below the table says what else to keep in mind.")
    if any(answer.public for answer in answers):
        words.append("Columns that are public knowledge are exact.")
    return (
        '<section class="card" aria-labelledby="reading">\n<h2 id="reading">How to read the numbers</h2>\n'
        f"<p>{said(' '.join(words))}</p>\n</section>"
    )


def _write_contents(report: Report) -> str:
    if len(report.tables) <= MOST_BESIDE:
        return ""
    links = (f'<li><a href="#table-{at}">{named(table.title)}</a></li>' for at, table in enumerate(report.tables, 1))
    return f'<nav aria-label="Tables"><ol>{"".join(links)}</ol></nav>'


def _write_table(report: Report, sheet: Sheet, number: int) -> str:
    table, place = sheet.table, f"table-{number}"
    title = f"PRACTICE: {table.title}" if report.practice else table.title
    notes = "".join(f"<li>{said(note)}</li>" for note in notes_of(table))
    return "\n".join(
        [
            f'<section class="table" id="{place}">',
            f"<h2>{MARK if report.practice else ''}{named(table.title)}</h2>",
            paragraphs(table.description) if table.description else "",
            _write_headline(table),
            *charts_of(table, place),
            write_page_table(sheet, title, number, practice=report.practice),
            f'<ul class="notes">{notes}</ul>' if notes else "",
            "<details><summary>Query and cost</summary>",
            f"<p>{_cost(report, table)}</p>",
            f"<pre>{lines(table.sql)}</pre></details>",
            "</section>",
        ]
    )


def _write_headline(table: PublishedTable) -> str:
    """Return a single number so large that nobody looks for it."""
    answer = table.answer
    if len(answer.rows) != 1 or answer.measures != 1 or answer.key_places or not answer.learnt[0][0]:
        return ""
    figures, name = Figures.of(answer, 0), answer.interval_names[0]
    ends = answer.intervals[0][0] if answer.intervals and name else None
    beside = []
    if ends is not None:
        beside.append(f"{said(name)}: {said(figures.write(ends[0]))} to {said(figures.write(ends[1]))}")
    if answer.noise and answer.noise[0][0] is not None:
        beside.append(f"expected noise: {write_noise(answer.noise[0][0])}")
    return f'<p class="headline"><strong>{write_value(answer.rows[0][0], figures)}</strong> {"; ".join(beside)}</p>'


def _cost(report: Report, table: PublishedTable) -> str:
    if table.answer.is_public:
        return "This is public knowledge: exact, and free."
    request = table.answer.request_id
    sharing = sum(one.answer.request_id == request for one in report.tables)
    who = "It" if sharing == 1 else f"Together, the {sharing} tables of this request"
    return f"{who} cost ε = {said(write_epsilon(table.epsilon))}, under the request id {named(request)}."


def _write_about(report: Report) -> str:
    promise = (
        f"Differential privacy for each {report.unit}: with or without the rows of any one, every result is nearly as "
        f"likely. ε = {write_epsilon(report.epsilon)} says how nearly."
    )
    words = {"What is promised": promise, "Charged to": report.analyst}
    digests = {
        "Digest of this report": report.digest,
        "Digest of the contract": report.contract,
        "Ledger head": report.ledger_head,
    }
    items = [f"<dt>{name}</dt><dd>{said(fact)}</dd>" for name, fact in words.items() if fact]
    items += [f"<dt>{name}</dt><dd><code>{said(digest)}</code></dd>" for name, digest in digests.items()]
    return "\n".join(
        [
            '<section id="about" aria-labelledby="about-title">',
            '<h2 id="about-title">About this report</h2>',
            f'<dl class="facts">{"".join(items)}</dl>',
            f"<p>{CHECKING}</p>",
            "</section>",
        ]
    )
