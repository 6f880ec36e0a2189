"""`inbounds serve`: let others ask, over the network."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.clinic.clinic import build
from inbounds.cli.shell.extras import load_custodian, open_key_ring
from inbounds.cli.shell.options import read_whole
from inbounds.cli.shell.own_name import find_command
from inbounds.errors import InvalidParameter, LedgerBroken, LedgerUnavailable

if TYPE_CHECKING:
    from inbounds.server.state.custodian_file import CustodianFile

DEMO = """\
[server]
contracts = ["clinic.toml"]
ledger = "budget.db"
listen = "127.0.0.1:{port}"

[people.ana]
role = "analyst"
datasets = ["visits"]
[people.ben]
role = "analyst"
datasets = ["visits"]
[people.carla]
role = "custodian"
[people.dora]
role = "auditor"
[people.rita]
role = "reader"
"""

CustodianPath = Annotated[
    str | None, typer.Argument(metavar="FILE", help="The custodian file, a TOML file.", show_default=False)
]
Demo = Annotated[bool, typer.Option("--demo", help="Serve a made-up clinic, on this machine only.")]
NewLedger = Annotated[bool, typer.Option("--new-ledger", help="Create the ledger; for the first start only.")]
Port = Annotated[str, typer.Option(metavar="NUMBER", help="The port of the demonstration.")]


def command(file: CustodianPath = None, new_ledger: NewLedger = False, demo: Demo = False, port: Port = "8750") -> None:
    """Serve datasets over HTTP to people with API keys.

    The custodian file names the contracts, the ledger, the people and the limits. The server does not start without
    its ledger, because the ledger knows what was spent. Ctrl-C stops the server after it has answered running queries.

    \b
    Example:
      inbounds serve --demo
    """
    if demo == (file is not None):
        raise InvalidParameter("serve needs either a custodian file or --demo, got both or neither; give one of them")
    where = read_whole(port, "--port")
    if file is not None:
        _serve(Path(file), demo=False, new_ledger=new_ledger)
        return
    with tempfile.TemporaryDirectory(prefix="inbounds-demo-") as folder:
        path = Path(folder) / "custodian.toml"
        build(Path(folder))
        path.write_text(DEMO.format(port=where), encoding="utf-8")
        _serve(path, demo=True, new_ledger=True)


def _serve(path: Path, *, demo: bool, new_ledger: bool) -> None:
    file = load_custodian(path)
    from inbounds.server.run.process import listening, run  # noqa: PLC0415  what only this command needs

    _check(file, new_ledger=new_ledger)
    with listening(file) as listener:
        file = replace(file, port=listener.getsockname()[1])  # for 0 the system has chosen one
        typer.echo(_introduce(file) if demo else f"serving on {file.url}; Ctrl-C stops it", err=not demo)
        run(path, file, listener)


def _check(file: CustodianFile, *, new_ledger: bool) -> None:
    """Refuse a ledger that somebody has to mend as bad input is refused: by that a unit knows not to try again."""
    from inbounds.server.run.process import check  # noqa: PLC0415

    try:
        check(file, new_ledger=new_ledger)
    except LedgerBroken as problem:
        raise InvalidParameter(str(problem)) from None
    except LedgerUnavailable as problem:
        if not problem.lasting:
            raise
        raise InvalidParameter(str(problem)) from None


def _introduce(file: CustodianFile) -> str:
    """Issue a key for everybody, and return what to do with them."""
    ring = open_key_ring(file)
    keys: dict[str, Any] = {name: ring.issue(name, 1)[0] for name in file.people}
    lines = [f"A made-up clinic is served on {file.url}, until you press Ctrl-C.", "", "API keys, shown only once:"]
    lines += [f"  {name:<6} {file.people[name].role.value:<10} {key}" for name, key in keys.items()]
    lines += [
        "",
        f"Open {file.url} in a browser and sign in with one of them:",
        "ana runs queries, carla is the custodian, dora the auditor, rita reads reports.",
        "",
        "Or run a query as ana, in another terminal:",
        "",
        f"export INBOUNDS_KEY={keys['ana']}",
        f"{find_command()} query --server {file.url} --dataset visits \\",
        '    --epsilon 0.5 "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"',
    ]
    return "\n".join(lines)
