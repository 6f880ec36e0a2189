"""The processes of a server: what is checked before they start, and how they are run."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import socket
import ssl
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from inbounds.errors import InvalidParameter
from inbounds.server.app import application
from inbounds.server.connection import TimedProtocol
from inbounds.server.custodian_file import CustodianFile
from inbounds.server.metrics import FOLDER
from inbounds.server.service import Service, beside
from inbounds.server.workers import Workers

FILE = "INBOUNDS_CUSTODIAN_FILE"
"""Where worker processes find the path of the custodian's file."""

BACKLOG = 2048
"""So many wait at the door, also while the processes start."""

GRACE = 5
"""When the server is stopped, running questions have the time that a statement has, and so many seconds."""


def worker() -> FastAPI:
    """Return the application of a worker process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return application(Service.open(CustodianFile.load(os.environ[FILE]), create=False))  # `check` has created all


def _end_with_parent() -> None:
    """Stop a worker whose server was killed: it would keep the address from the one that is started next."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def check(file: CustodianFile) -> None:
    """Open everything once, so that what is wrong is told before anybody listens."""
    beside(file.state, "rates").unlink(missing_ok=True)  # its clock began with the machine
    _check_certificate(file)
    service = Service.open(file)
    try:
        for holding in service.holdings.all():
            holding.dataset.ledger.head()
    finally:
        service.close()


def _check_certificate(file: CustodianFile) -> None:
    if file.tls is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(file.tls.certificate, file.tls.key, password="")
    except OSError:  # what it says may be about the key
        raise InvalidParameter(
            f"the certificate {str(file.tls.certificate)!r} and its key cannot be used; check that both files can be "
            "read, are PEM, belong together, and that the key has no password"
        ) from None


def listening(file: CustodianFile) -> socket.socket:
    """Take the address to listen on, or say that it cannot be had: before anybody is told that it is there."""
    found = socket.socket(socket.AF_INET6 if ":" in file.host else socket.AF_INET)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections take it over.  Else a body waits for the client to confirm the headers, which takes 40 ms.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        found.bind((file.host, file.port))
        found.listen(BACKLOG)
        found.set_inheritable(True)
    except OSError as problem:
        found.close()
        why = problem.strerror or type(problem).__name__
        raise InvalidParameter(
            f"the server cannot listen on {file.host} port {file.port}: {why}; end what listens there, or name another "
            "port"
        ) from None
    return found


def run(path: Path, file: CustodianFile, listener: socket.socket) -> None:
    """Answer on a socket, until a signal says to stop."""
    os.environ[FILE] = str(path)
    counts = tempfile.mkdtemp(prefix="inbounds-metrics-")
    if file.workers > 1:
        os.environ[FOLDER] = counts
    config = uvicorn.Config(
        "inbounds.server.process:worker",
        factory=True,
        workers=file.workers,
        ssl_certfile=None if file.tls is None else str(file.tls.certificate),
        ssl_keyfile=None if file.tls is None else str(file.tls.key),
        proxy_headers=False,  # an address that a header tells may be anybody's
        server_header=False,
        access_log=False,
        log_level="error",  # of what is wrong with a request the log tells in its own lines
        http=TimedProtocol,
        ws="none",
        limit_concurrency=file.limits.connections,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=file.limits.statement_seconds + GRACE,
        h11_max_incomplete_event_size=65_536,  # the longest question fits into an address
    )
    try:
        with suppress(KeyboardInterrupt):  # uvicorn hands the signal on, once everything is answered
            if file.workers > 1:
                Workers(config, [listener]).run()
            else:
                uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
        shutil.rmtree(counts, ignore_errors=True)
