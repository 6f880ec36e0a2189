"""Assistants: clients of MCP, as the protocol's own SDK has them, over standard input and over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Tool

from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import bearer

Way = Literal["stdio", "http"]

MODES = ("legacy", "auto")
"""The protocol with its handshake, and the one in which every request stands alone."""


@dataclass(frozen=True)
class Said:
    """What a call gave back."""

    text: str
    fields: Any
    refused: bool

    @classmethod
    def of(cls, result: CallToolResult) -> Said:
        """Read what came back: one text, and fields unless it was refused."""
        (content,) = result.content
        return cls(getattr(content, "text", ""), result.structured_content, result.is_error)


@dataclass(frozen=True)
class Assistant:
    """A client that is connected, used from any thread."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, **arguments: Any) -> Said:
        """Call a tool."""
        return Said.of(self.portal.call(lambda: self.client.call_tool(tool, arguments)))

    def ask(self, sql: str, epsilon: float, **more: Any) -> Said:
        """Ask the clinic."""
        return self.call("ask", dataset="visits", sql=sql, epsilon=epsilon, **more)

    def tools(self) -> list[Tool]:
        """Return the tools that are offered."""
        return list(self.portal.call(self.client.list_tools).tools)


@contextmanager
def assistant(transport: Any, mode: str = "auto") -> Iterator[Assistant]:
    """Connect a client for the time of the block."""
    with start_blocking_portal() as portal:
        client = Client(transport, mode=mode)
        with portal.wrap_async_context_manager(client):
            yield Assistant(portal, client)


@contextmanager
def over_stdio(server: str, key: str, *options: str, mode: str = "auto", log: Any = None) -> Iterator[Assistant]:
    """Start a gateway as an assistant does, and talk to it over its standard input and output."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "inbounds.cli", "mcp", "--server", server, *options],
        env={**os.environ, "INBOUNDS_KEY": key},
    )
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        assistant(stdio_client(command, nowhere if log is None else log), mode) as found,
    ):
        yield found


@dataclass(frozen=True)
class HttpGateway:
    """A gateway that serves assistants over HTTP."""

    url: str
    process: subprocess.Popen[str]
    lines: list[str]
    """What it wrote to standard error after it said where it is."""

    @contextmanager
    def connect(self, key: str, mode: str = "auto") -> Iterator[Assistant]:
        """Connect an assistant that shows a key with every request."""
        http = httpx2.AsyncClient(headers=bearer(key), timeout=PATIENCE, trust_env=False)
        with assistant(streamable_http_client(self.url, http_client=http), mode) as found:
            yield found
            found.portal.call(http.aclose)


@contextmanager
def over_http(server: str, *options: str) -> Iterator[HttpGateway]:
    """Serve assistants over HTTP for the time of the block."""
    command = [sys.executable, "-m", "inbounds.cli", "mcp", "--server", server, "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines: list[str] = []
        try:
            first = process.stderr.readline()
            url = first.split(" on ")[1].split(";")[0]
            reader = threading.Thread(target=lines.extend, args=(process.stderr,), daemon=True)
            reader.start()
            yield HttpGateway(url, process, lines)
        finally:
            process.terminate()
            process.wait(PATIENCE)
        reader.join(PATIENCE)
