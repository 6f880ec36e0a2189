"""Serving one assistant over standard input and output, as the program that starts us expects it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from inbounds.gateways.allowance import Account, Allowance
from inbounds.gateways.assistants.mcp_server import Visitor, make_server
from inbounds.gateways.background import Background

PIECE = 65536
"""So many bytes are read at once."""


def serve_stdio(server: str, key: str, allowance: Allowance) -> None:
    """Answer until standard input ends, in the name of the person whose key it is."""
    anyio.run(_serve, Visitor(server, key, Account(allowance)))


async def _serve(visitor: Visitor) -> None:
    served = make_server(lambda _: visitor)
    async with stdio_server(cast(Any, _read_lines(sys.stdin.fileno()))) as (reading, writing):
        await served.run(reading, writing, served.create_initialization_options())


async def _read_lines(file: int) -> AsyncIterator[str]:
    """Yield the lines of a file, read where nobody waits for it at the end: a signal ends the program at once."""
    background, rest = Background(1), b""
    while piece := await background.run(lambda: os.read(file, PIECE)):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
