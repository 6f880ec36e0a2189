"""The processes of a server: what is checked before they start, and how they are run."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import ssl
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import uvicorn

from inbounds.errors import InvalidParameter
from inbounds.server.basics import clock
from inbounds.server.basics.metrics import FOLDER
from inbounds.server.run.app import application
from inbounds.server.run.connection import TOLD, TimedProtocol
from inbounds.server.run.workers import Worker, Workers
from inbounds.server.service.service import Service, beside
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.ledger_presence import check_presence
from inbounds.server.state.rates import Rates

PATIENCE = 2.0
PAUSE = 0.05
"""Seconds to wait for an address that somebody has: a server that was killed may still be ending."""

BACKLOG = 2048
"""So many wait at the door, also while the processes start."""

ACCEPTED = 256
"""So many connections a process takes at once before it looks at them."""

RESERVE = 512 + ACCEPTED + TOLD
"""Files of a process that are no connections within the limit: those of its threads, and connections that will end."""

WORKERS_PER_PROCESSOR = 4
"""An answer is work for a processor, and more processes than these share it; some wait for a database meanwhile."""

GRACE = 5
"""When the server is stopped, running questions have the time that a statement has, and so many seconds."""


def check(file: CustodianFile, *, new_ledger: bool = False) -> None:
    """Open everything once, so that what is wrong is told before anybody listens; the ledger must be there or new."""
    _check_workers(file)
    _take_files(file)
    _check_certificate(file)
    service = Service.open(file, create=new_ledger)
    try:
        check_presence(file.ledger, service.holdings.heads, new=new_ledger)
        for holding in service.holdings.all():
            holding.dataset.ledger.head()
        service.holdings.record_head()
    finally:
        service.close()


def _check_workers(file: CustodianFile) -> None:
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = WORKERS_PER_PROCESSOR * processors
    if file.workers > most:
        raise InvalidParameter(
            f"workers must be at most {most} on this machine, {WORKERS_PER_PROCESSOR} per processor, got "
            f"{file.workers}; lower it in the custodian's file"
        )


def _take_files(file: CustodianFile) -> None:
    """Have the system give as many open files as it would; processes that are started later have as many."""
    if sys.platform == "win32":  # which has no such limit
        return
    import resource  # noqa: PLC0415  not every system has it

    needed = file.limits.connections + RESERVE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return
    if hard == resource.RLIM_INFINITY:
        most = max(soft, needed)  # not every system takes "without end" for an answer
    elif hard >= needed:
        most = hard
    else:
        raise InvalidParameter(
            f"connections must be at most {max(hard - RESERVE, 0)} here, since a process may open {hard} files and "
            f"needs {RESERVE} for other things, got {file.limits.connections}; lower it in the custodian's file, or "
            "raise the limit of open files (ulimit -n)"
        )
    if most > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


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
    end = clock.seconds() + PATIENCE
    while True:
        try:
            return _listener(file)
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE and clock.seconds() < end:
                clock.pause(PAUSE)
                continue
            why = problem.strerror or type(problem).__name__
            raise InvalidParameter(
                f"the server cannot listen on {file.host} port {file.port}: {why}; stop what listens there, or choose "
                "another port"
            ) from None


def _listener(file: CustodianFile) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in file.host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections take it over.  Else a body waits for the client to confirm the headers, which takes 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((file.host, file.port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def run(path: Path, file: CustodianFile, listener: socket.socket) -> None:
    """Answer on a socket, until a signal says to stop."""
    with listener:
        Rates.begin(beside(file.state, "rates"))
        if file.workers == 1:
            answer(file, listener)
            return
        counts = tempfile.mkdtemp(prefix="inbounds-metrics-")
        os.environ[FOLDER] = counts  # workers inherit it, and read it when they import their counters
        try:
            workers = Workers(file.workers, partial(Worker.start, path, listener), _seconds_to_stop(file) + GRACE)
            if not workers.run():
                raise InvalidParameter(
                    "a worker could not start; fix the problem reported above, and start the server again"
                )
        finally:
            shutil.rmtree(counts, ignore_errors=True)


def answer(file: CustodianFile, listener: socket.socket) -> None:
    """Answer on a socket in this process, until a signal says to stop."""
    config = uvicorn.Config(
        lambda: application(Service.open(file, create=False)),  # `check` has created all
        factory=True,
        ssl_certfile=None if file.tls is None else str(file.tls.certificate),
        ssl_keyfile=None if file.tls is None else str(file.tls.key),
        proxy_headers=False,  # an address that a header tells may be anybody's
        server_header=False,
        access_log=False,
        log_level="error",  # of what is wrong with a request the log tells in its own lines
        http=TimedProtocol,
        ws="none",
        limit_concurrency=file.limits.connections,
        backlog=ACCEPTED,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_seconds_to_stop(file),
    )
    with suppress(KeyboardInterrupt):  # uvicorn hands the signal on, once everything is answered
        uvicorn.Server(config).run(sockets=[listener])


def _seconds_to_stop(file: CustodianFile) -> int:
    return file.limits.statement_seconds + GRACE
