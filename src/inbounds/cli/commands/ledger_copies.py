"""`inbounds budget backup`, `restore` and `accept-restore`: copies of the ledger, and how an older one is accepted."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.shell.extras import load_custodian, open_dataset
from inbounds.cli.shell.options import AsJson, LedgerPlace
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import InvalidParameter, LedgerMissing, LedgerUnavailable
from inbounds.ledger import Head, Ledger
from inbounds.ledger.recovery import restore as put_back
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.address import without_secrets
from inbounds.ledger.values.restore_record import check_restore_reason

if TYPE_CHECKING:
    from inbounds.server.state.custodian_file import CustodianFile
    from inbounds.server.state.ledger_heads import LedgerHeads

NewFile = Annotated[str, typer.Argument(metavar="FILE", help="The new file to write.", show_default=False)]
Backup = Annotated[str, typer.Argument(metavar="FILE", help="A file written by backup.", show_default=False)]
Contract = Annotated[
    str | None, typer.Option("--dataset", metavar="FILE", help="The contract whose ledger this is, a TOML file.")
]
Custodian = Annotated[
    str | None, typer.Option("--custodian", metavar="FILE", help="Instead of --dataset: a server's custodian file.")
]
ServerFile = Annotated[str, typer.Option("--custodian", metavar="FILE", help="The server's custodian file.")]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the record; required if entries are lost.")
]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.", show_default=False)]
SavedHead = Annotated[
    str | None, typer.Option("--head", metavar="HEAD", help="A saved checkpoint that the backup must contain.")
]
NewLedger = Annotated[bool, typer.Option("--new-ledger", help="The ledger is lost for good: start an empty one.")]


def backup(
    file: NewFile,
    dataset: Contract = None,
    custodian: Custodian = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Back up the ledger to a new file.

    Only you can read the file. The copy is verified; its checkpoint (head) is printed, and written to FILE.head. A
    server can keep running.

    \b
    Example:
      inbounds budget backup budget-copy.db --dataset clinic.toml
    """
    target = Path(file)
    with Ledger.open(_find_place(dataset, custodian, ledger), create=False, witness=_find_witness(custodian)) as source:
        head = source.backup(target)
    lines = [("backup", target), ("entries", head.seq), ("head", head)]
    show({"backup": str(target), "entries": head.seq, "head": str(head)}, format_pairs(lines), as_json=as_json)


def restore(
    file: Backup,
    dataset: Contract = None,
    custodian: Custodian = None,
    reason: Reason = None,
    head: SavedHead = None,
    ledger: LedgerPlace = None,
    as_json: AsJson = False,
) -> None:
    """Replace the ledger with a backup.

    Stop the server first. The current ledger is kept under another name. If it has entries that the backup lacks, or
    may have some, you must give a reason, which goes on record with both checkpoints.

    \b
    Example:
      inbounds budget restore budget-copy.db --dataset clinic.toml \\
          --reason "the disk failed"
    """
    place = _find_place(dataset, custodian, ledger)
    saved = None if head is None else Head.parse(head)
    heads = None if custodian is None else _open_heads(load_custodian(custodian))
    with _telling():
        known = {} if heads is None else heads.known()
        restored = put_back(Path(file), place, by=_find_account(), why=reason, saved=saved, known=known)
        if heads is not None and restored.lost:
            heads.accept(known, restored.head)
    lines: list[tuple[str, Any]] = [("restored", without_secrets(place)), ("head", restored.head)]
    if restored.aside is not None:
        lines.append(("replaced", f"kept as {restored.aside.name}"))
    lines += _describe_lost(restored.lost)
    data = {
        "head": str(restored.head),
        "entries": restored.head.seq,
        "replaced": None if restored.aside is None else str(restored.aside),
        "lost": _write_heads(restored.lost),
    }
    show(data, format_pairs(lines), as_json=as_json)


def accept_restore(custodian: ServerFile, reason: Why, new_ledger: NewLedger = False, as_json: AsJson = False) -> None:
    """Accept a ledger older than the one a server last used.

    The server refuses such a ledger, because budget spent since then would be available again. The record keeps who
    accepted it, why, and both checkpoints. Afterwards, use grant to lower the cap by what was spent since.

    \b
    Example:
      inbounds budget accept-restore --custodian custodian.toml \\
          --reason "the disk failed"
    """
    check_restore_reason(reason)  # before a ledger is begun
    file = load_custodian(custodian)
    heads = _open_heads(file)
    with _telling():
        known = heads.known()
        with _open_accepted(file.ledger, new=new_ledger, is_known=bool(known)) as ledger:
            ledger.verify().raise_if_broken()
            lost: dict[str, Head | None] = {name: head for name, head in known.items() if not ledger.goes_through(head)}
            if not lost:
                raise InvalidParameter(
                    "only a ledger that the server refuses needs to be accepted, and this one has every entry the "
                    "server knows of; start the server"
                )
            head = ledger.accept_restore(lost, reason, _find_account())
        heads.accept(known, head)
    lines = [("accepted", without_secrets(file.ledger)), ("head", head), *_describe_lost(lost)]
    show({"head": str(head), "entries": head.seq, "lost": _write_heads(lost)}, format_pairs(lines), as_json=as_json)


def _open_accepted(where: str, *, new: bool, is_known: bool) -> Ledger:
    """Open the ledger that is to be accepted, or begin one."""
    try:
        ledger = Ledger.open(where, create=False)
    except LedgerMissing:
        if new and is_known:
            return Ledger.open(where)
        remedy = (
            "restore a backup (inbounds budget restore), or give --new-ledger to begin an empty one"
            if is_known
            else "this server has used none: start it with --new-ledger"
        )
        raise LedgerMissing(f"there is no ledger at {without_secrets(where)}; {remedy}") from None
    if new:
        ledger.close()
        raise InvalidParameter(f"there is a ledger at {without_secrets(where)} already; leave --new-ledger out")
    return ledger


def _find_place(dataset: str | None, custodian: str | None, ledger: str | None) -> str:
    """Return where the ledger is that is meant."""
    if (dataset is None) == (custodian is None):
        raise InvalidParameter("--dataset or --custodian selects the ledger, got both or none; give one of them")
    if custodian is not None:
        if ledger is not None:
            raise InvalidParameter("--ledger does not go with --custodian, whose file names the ledger; leave it out")
        return load_custodian(custodian).ledger
    with open_dataset(dataset or "", ledger, create_ledger=False) as table:
        return table.ledger_place


def _find_witness(custodian: str | None) -> LedgerHeads | None:
    """Return what a server knows of the ledger that it uses, None if there is no server or it has no file yet."""
    if custodian is None:
        return None
    file = load_custodian(custodian)
    return _open_heads(file) if file.state.exists() else None


def _open_heads(file: CustodianFile) -> LedgerHeads:
    """Return what a server knows of its ledger; its file is made if it has none, as for a key."""
    from inbounds.server.state.database import Database  # noqa: PLC0415
    from inbounds.server.state.ledger_heads import LedgerHeads  # noqa: PLC0415
    from inbounds.server.state.open_datasets import contracts_of  # noqa: PLC0415

    return LedgerHeads(Database(file.state), contracts_of(file))


@contextmanager
def _telling() -> Iterator[None]:
    """Say what the server's file could not do."""
    try:
        yield
    except Failure as failure:
        raise LedgerUnavailable(f"what the server knows of the ledger cannot be used: {failure}") from None


def _find_account() -> str:
    """Return the account that this runs under, by its number: the environment can say anything."""
    try:
        import pwd  # noqa: PLC0415  not every system has it

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return getpass.getuser() if os.name != "posix" else f"user {os.getuid()}"


def _describe_lost(lost: Any) -> list[tuple[str, str]]:
    return [
        ("lost", f"{name}: {'nobody knows what' if head is None else f'entry {head.seq}, perhaps others before it'}")
        for name, head in lost.items()
    ]


def _write_heads(lost: Any) -> dict[str, str | None]:
    return {name: None if head is None else str(head) for name, head in lost.items()}
