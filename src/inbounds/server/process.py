"""The processes of a server: what is checked before they start, and how they are run."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from inbounds.server.app import application
from inbounds.server.connection import TimedProtocol
from inbounds.server.custodian_file import CustodianFile
from inbounds.server.metrics import FOLDER
from inbounds.server.service import Service, beside

FILE = "INBOUNDS_CUSTODIAN_FILE"
"""Where worker processes find the path of the custodian's file."""

GRACE = 5
"""When the server is stopped, running questions have the time that a statement has, and so many seconds."""


def worker() -> FastAPI:
    """Return the application of a worker process."""
    return application(Service.open(CustodianFile.load(os.environ[FILE])))


def check(file: CustodianFile) -> None:
    """Open everything once, so that what is wrong is told before anybody listens."""
    beside(file.state, "rates").unlink(missing_ok=True)  # its clock began with the machine
    service = Service.open(file)
    try:
        for holding in service.holdings.all():
            holding.dataset.ledger.head()
    finally:
        service.close()


def run(path: Path, file: CustodianFile) -> None:
    """Listen and answer, until a signal says to stop."""
    check(file)
    os.environ[FILE] = str(path)
    counts = tempfile.mkdtemp(prefix="inbounds-metrics-")
    if file.workers > 1:
        os.environ[FOLDER] = counts
    try:
        uvicorn.run(
            "inbounds.server.process:worker",
            factory=True,
            host=file.host,
            port=file.port,
            workers=file.workers,
            ssl_certfile=None if file.tls is None else str(file.tls.certificate),
            ssl_keyfile=None if file.tls is None else str(file.tls.key),
            proxy_headers=False,  # an address that a header tells may be anybody's
            server_header=False,
            access_log=False,
            log_level="warning",
            http=TimedProtocol,
            ws="none",
            limit_concurrency=file.limits.connections,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=file.limits.statement_seconds + GRACE,
            h11_max_incomplete_event_size=16_384,
        )
    finally:
        shutil.rmtree(counts, ignore_errors=True)
