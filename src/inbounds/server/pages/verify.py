"""Verify: the ledger as a chain that one can follow entry by entry, verified now, and as a statement to keep.

And certificates of mechanisms, which are checked by a program that shares nothing with this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from inbounds.errors import InvalidParameter
from inbounds.files.csv_text import write_table
from inbounds.ledger import Ledger
from inbounds.ledger.values.entry import FIELDS
from inbounds.privacy.second_opinion import Opinion, second_opinion
from inbounds.server.basics import clock
from inbounds.server.basics.person import Action
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import render_page
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.amounts import Whole
from inbounds.server.service.budgets import AccountOut, to_account_out
from inbounds.server.service.door import Serving
from inbounds.server.service.ledger_reading import read_ledger
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

READS = require_visitor(Action.READ_LEDGER)
Reader = Annotated[Visitor, READS]
MOST = 50
"""So many entries are on one page."""

MOST_STATED = 500
"""So many are on a statement to print; the file has all of them."""

SHOWN = 2000
"""So many characters of what an entry holds are shown; the statement has all of them."""

_LIMITER = CapacityLimiter(1)
"""So many certificates are checked at a time in one process; others wait, and questions do not."""


@router.get("/verify")
async def verify_page(
    request: Request, service: Serving, visitor: Reader, head: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Verify the whole ledger now, also against a head that was saved; and list its last entries."""
    problem = None
    try:
        result = await read_ledger(service, lambda ledger: ledger.verify(head.strip() or None))
    except InvalidParameter as error:
        problem, result = str(error), await read_ledger(service, lambda ledger: ledger.verify())
    last = await read_ledger(service, lambda ledger: ledger.page(max(0, result.entries - MOST), MOST))
    return render_page(
        request, "verify", visitor, result=result, saved=head.strip(), problem=problem, entries=last.entries[::-1],
        first=max(1, result.entries - MOST + 1),
    )  # fmt: skip


@router.get("/verify/entries")
async def entries_page(
    request: Request, service: Serving, visitor: Reader, after: Annotated[Whole, Query(ge=0, le=2**62)] = 0
) -> Response:
    """List entries from the first on."""
    page = await read_ledger(service, lambda ledger: ledger.page(after, MOST))
    entries = page.entries
    ahead = entries[-1].seq if len(entries) == MOST else None
    return render_page(
        request, "verify_entries", visitor, entries=entries, ahead=ahead, back=max(0, after - MOST) if after else None
    )


@router.get("/verify/entries/{number}")
async def entry_page(request: Request, number: Whole, service: Serving, visitor: Reader) -> Response:
    """Show one entry: every field, and whether its digest is that of its fields and of the entry before."""
    if not 1 <= number <= 2**62:
        raise Problem("not-found", "the ledger has no entry with this number; choose one from the list")
    around = await read_ledger(service, lambda ledger: ledger.page(max(0, number - 2), 3))
    by_number = {entry.seq: entry for entry in around.entries}
    entry = by_number.get(number)
    if entry is None:
        raise Problem("not-found", "the ledger has no entry with this number; choose one from the list")
    facts = {**entry.data(), "text": entry.text[:SHOWN]}
    return render_page(
        request, "verify_entries_one", visitor, entry=entry, facts=facts, cut=len(entry.text) > SHOWN,
        computed=entry.computed(), before=by_number.get(number - 1), follows=by_number.get(number + 1),
    )  # fmt: skip


@router.get("/verify/certificate")
async def certificate_page(request: Request, visitor: Reader) -> Response:
    """Show where to paste a certificate."""
    return _render_certificate(request, visitor, "", None)


@router.post("/verify/certificate")
async def check_certificate(request: Request, visitor: Reader, form: Form) -> Response:
    """Check a certificate, and show it again with what was found."""
    refuse_forged(request, visitor, form)
    text = form.get("certificate", "")
    opinion = await to_thread.run_sync(second_opinion, text, limiter=_LIMITER)
    return _render_certificate(request, visitor, text, opinion)


def _render_certificate(request: Request, visitor: Visitor, text: str, opinion: Opinion | None) -> Response:
    return render_page(request, "verify_certificate", visitor, certificate=text, opinion=opinion)


@router.get("/verify/head.txt", dependencies=[READS])
async def head_file(service: Serving) -> Response:
    """Return where the chain ends, as a file to keep elsewhere."""
    head = await read_ledger(service, lambda ledger: ledger.head())
    headers = {"Content-Disposition": f'attachment; filename="head-{head.seq}.txt"'}
    return Response(f"{head}\n", media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/verify/statement")
async def statement_page(request: Request, service: Serving, visitor: Reader) -> Response:
    """Show a statement to print: whether the ledger is intact, all accounts, and the last entries."""
    facts = await read_ledger(service, lambda ledger: _statement_facts(ledger, service))
    return render_page(request, "verify_statement", visitor, **facts)


def _statement_facts(ledger: Ledger, service: Service) -> dict[str, Any]:
    """Return what the template of a statement needs: the accounts of all analysts together and of each one."""
    result = ledger.verify()
    entries = ledger.page(max(0, result.entries - MOST_STATED), MOST_STATED).entries
    return {"result": result, "entries": entries, "accounts": list(_accounts(ledger, service)), "now": clock.now()}


def _accounts(ledger: Ledger, service: Service) -> Iterator[tuple[str, str, str, AccountOut]]:
    """Yield each account: of which dataset, whose, and in which period, if its budget refreshes."""
    known = set(ledger.datasets())  # a dataset is entered when it is first opened
    for name in service.holdings.names:
        if name not in known:
            continue
        for who in (None, *(analyst.name for analyst in service.file.analysts_of(name))):
            balance = ledger.balance(name, who)
            period = "" if balance.period is None else str(balance.period)
            yield name, who or "all analysts", period, to_account_out(balance)
            if balance.lifetime is not None:
                yield name, "all analysts", "all periods", to_account_out(balance.lifetime)


@router.get("/verify/statement.csv", dependencies=[READS])
async def statement(service: Serving) -> Response:
    """Return every entry with every field, as csv."""
    entries = (await read_ledger(service, lambda ledger: ledger.statement())).data()
    table = write_table(FIELDS, ([entry.get(name, "") for name in FIELDS] for entry in entries))
    headers = {"Content-Disposition": 'attachment; filename="statement.csv"'}
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)
