"""Verify: the ledger as a chain that one can follow entry by entry, verified now, and as a statement to keep."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from inbounds.errors import InvalidParameter
from inbounds.ledger import Ledger
from inbounds.ledger.values.entry import FIELDS
from inbounds.server.basics import clock
from inbounds.server.basics.person import Action, Role
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import page
from inbounds.server.pages.visitor import Visitor, signed_in
from inbounds.server.service.amounts import Whole
from inbounds.server.service.budgets import to_account_out
from inbounds.server.service.door import Serving
from inbounds.server.service.ledger_reading import read_ledger

router = APIRouter(include_in_schema=False)

READS = signed_in(Action.READ_LEDGER)
Reader = Annotated[Visitor, READS]
MOST = 50
"""So many entries are on one page."""

MOST_STATED = 500
"""So many are on a statement to print; the file has all of them."""

SHOWN = 2000
"""So many characters of what an entry holds are shown; the statement has all of them."""


@router.get("/verify")
async def verify_page(
    request: Request, service: Serving, visitor: Reader, head: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Verify the whole ledger now, also against a head that was saved; and list its last entries."""
    problem = None
    try:
        found = await read_ledger(service, lambda ledger: ledger.verify(head.strip() or None))
    except InvalidParameter as error:
        problem, found = str(error), await read_ledger(service, lambda ledger: ledger.verify())
    last = await read_ledger(service, lambda ledger: ledger.page(max(0, found.entries - MOST), MOST))
    return page(
        request, "verify", visitor, found=found, saved=head.strip(), problem=problem, entries=last.entries[::-1],
        first=max(1, found.entries - MOST + 1),
    )  # fmt: skip


@router.get("/verify/entries")
async def entries_page(
    request: Request, service: Serving, visitor: Reader, after: Annotated[Whole, Query(ge=0, le=2**62)] = 0
) -> Response:
    """List entries from the first on."""
    found = (await read_ledger(service, lambda ledger: ledger.page(after, MOST))).entries
    ahead = found[-1].seq if len(found) == MOST else None
    return page(
        request, "verify_entries", visitor, entries=found, ahead=ahead, back=max(0, after - MOST) if after else None
    )


@router.get("/verify/entries/{number}")
async def entry_page(request: Request, number: Whole, service: Serving, visitor: Reader) -> Response:
    """Show one entry: every field, and whether its digest is that of its fields and of the entry before."""
    if not 1 <= number <= 2**62:
        raise Problem("not-found", "the ledger has no entry with this number; choose one from the list")
    found = (await read_ledger(service, lambda ledger: ledger.page(max(0, number - 2), 3))).entries
    entry = next((one for one in found if one.seq == number), None)
    if entry is None:
        raise Problem("not-found", "the ledger has no entry with this number; choose one from the list")
    before = next((one for one in found if one.seq == number - 1), None)
    follows = next((one for one in found if one.seq == number + 1), None)
    facts = {**entry.data(), "text": entry.text[:SHOWN]}
    return page(
        request, "verify_entries_one", visitor, entry=entry, facts=facts, cut=len(entry.text) > SHOWN,
        computed=entry.computed(), before=before, follows=follows,
    )  # fmt: skip


@router.get("/verify/head.txt", dependencies=[READS])
async def head_file(service: Serving) -> Response:
    """Return where the chain ends, as a file to keep elsewhere."""
    found = await read_ledger(service, lambda ledger: ledger.head())
    headers = {"Content-Disposition": f'attachment; filename="head-{found.seq}.txt"'}
    return Response(f"{found}\n", media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/verify/statement")
async def statement_page(request: Request, service: Serving, visitor: Reader) -> Response:
    """Show a statement to print: whether the ledger is intact, all accounts, and the last entries."""
    people = [one for one in service.file.people.values() if one.role is Role.ANALYST]
    wanted = [
        (name, who)
        for name in service.holdings.names
        for who in (None, *(one.name for one in people if one.may_see(name)))
    ]
    return page(
        request, "verify_statement", visitor, **await read_ledger(service, lambda ledger: _stated(ledger, wanted))
    )


def _stated(ledger: Ledger, wanted: list[tuple[str, str | None]]) -> dict[str, Any]:
    found = ledger.verify()
    entries = ledger.page(max(0, found.entries - MOST_STATED), MOST_STATED).entries
    known = set(ledger.datasets())  # a dataset is entered when it is first opened
    accounts = [
        (name, who or "all analysts", to_account_out(ledger.balance(name, who)))
        for name, who in wanted
        if name in known
    ]
    return {"found": found, "entries": entries, "accounts": accounts, "now": clock.now()}


@router.get("/verify/statement.csv", dependencies=[READS])
async def statement(service: Serving) -> Response:
    """Return every entry with every field, as csv."""
    found = await read_ledger(service, lambda ledger: ledger.statement())
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, restval="")
    writer.writeheader()
    writer.writerows(found.data())
    headers = {"Content-Disposition": 'attachment; filename="statement.csv"'}
    return Response(text.getvalue().encode(), media_type="text/csv; charset=utf-8", headers=headers)
