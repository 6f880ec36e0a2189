"""`inbounds mcp`: let an assistant ask a server, in your name and within caps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import read_number
from inbounds.cli.shell.server import read_key
from inbounds.errors import InvalidParameter
from inbounds.exact.amount import units

ServerUrl = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="The server to ask.", show_default=False)
]
KeyPath = Annotated[
    str | None, typer.Option("--key-file", metavar="FILE", help="The file with your API key.  [default: $INBOUNDS_KEY]")
]
MaxEpsilon = Annotated[str, typer.Option(metavar="NUMBER", help="The most that one question may cost.")]
MaxSession = Annotated[
    str | None,
    typer.Option(
        "--max-session-epsilon",
        metavar="NUMBER",
        help="The most that one person may spend while this runs.  [default: no cap but the budget]",
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Serve over HTTP here, such as 127.0.0.1:8751; everybody shows their own key.  [default: standard input]",
    ),
]


def command(
    server: ServerUrl = None,
    key_file: KeyPath = None,
    max_epsilon: MaxEpsilon = "1",
    max_session_epsilon: MaxSession = None,
    listen: Listen = None,
) -> None:
    """Let an assistant that speaks MCP ask a server.

    The assistant asks in your name and spends your privacy budget, but no more than the caps that you give here. It
    starts this command by itself, and talks to it over standard input and output. With --listen it is served over HTTP
    on this machine, and shows an API key with every request.

    \b
    Example:
      inbounds mcp --server http://127.0.0.1:8750 --max-epsilon 0.5
    """
    if server is None:
        raise InvalidParameter("--server is missing; give the address of a server, such as http://127.0.0.1:8750")
    if listen is not None and key_file is not None:
        raise InvalidParameter(
            "--key-file cannot be combined with --listen, where everybody shows their own key; leave it out"
        )
    with needing("mcp", "serving assistants"):
        import inbounds  # noqa: PLC0415  what only this command needs
        from inbounds.gateways.address import Address  # noqa: PLC0415
        from inbounds.gateways.allowance import Allowance  # noqa: PLC0415
        from inbounds.gateways.assistants.stdio import serve_stdio  # noqa: PLC0415
        from inbounds.gateways.assistants.streamable_http import PATH, serve_http  # noqa: PLC0415
    allowance = Allowance(
        _read_cap(max_epsilon, "--max-epsilon"), _read_cap(max_session_epsilon, "--max-session-epsilon")
    )
    if listen is None:
        key = os.environ.get("INBOUNDS_KEY", "") if key_file is None else read_key(Path(key_file))
        inbounds.connect(server, key=key).close()  # which refuses an address or a key that cannot be one
        typer.echo("serving an assistant over standard input and output; Ctrl-C stops it", err=True)
        serve_stdio(server, key, allowance)
        return
    address = Address.read(listen, "--listen")
    if not address.is_loopback:
        raise InvalidParameter(
            f"--listen must be an address of this machine alone, got {address.host}; use 127.0.0.1, and for other "
            "machines a proxy with TLS on this one"
        )
    inbounds.connect(server, key="none").close()
    listener, there = address.listen()
    typer.echo(f"serving assistants on http://{there.text}{PATH}; Ctrl-C stops it", err=True)
    serve_http(server, listener, allowance)


def _read_cap(text: str | None, name: str) -> int | None:
    return None if text is None else units(read_number(text, name), name)
