"""A program: somebody uses a server in a process whose OpenTelemetry collects everything, and what it has is printed.

With the argument `control` it is another application, which FastAPI tells of as it does by default.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import ConsoleLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import bearer, build

SECRET = "SELECT AVG(age) FROM visits WHERE age <> 47"
"""A question that nobody but the analyst may see."""


class Records(logging.Handler):
    """Keeps whatever any library logs, however unimportant, with the texts of exceptions."""

    def __init__(self) -> None:
        super().__init__(level=1)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, unless it is of those who send requests here, and log where to."""
        text = logging.Formatter("%(name)s %(message)s").format(record)
        if not text.startswith("httpx2 HTTP Request") or "http://127.0.0.1/" not in text:
            self.told.append(text)


class Collected:
    """What there is of spans, measurements and logs."""

    def __init__(self) -> None:
        self._spans, self._measured, self._records = InMemorySpanExporter(), InMemoryMetricReader(), Records()
        self._logged = io.StringIO()
        tracing, logs = TracerProvider(), LoggerProvider()
        tracing.add_span_processor(SimpleSpanProcessor(self._spans))
        logs.add_log_record_processor(SimpleLogRecordProcessor(ConsoleLogRecordExporter(self._logged)))
        trace.set_tracer_provider(tracing)
        metrics.set_meter_provider(MeterProvider([self._measured]))
        _logs.set_logger_provider(logs)
        logging.root.setLevel(1)
        logging.root.addHandler(self._records)

    def data(self) -> dict[str, str]:
        """Return all of it, as texts."""
        self._logged.seek(0)
        measured = self._measured.get_metrics_data()
        return {
            "spans": "\n".join(span.to_json() for span in self._spans.get_finished_spans()),
            "metrics": "" if measured is None or not measured.resource_metrics else measured.to_json(),
            "logs": self._logged.read(),
            "records": "\n".join(self._records.told),
        }


def use_server(folder: Path) -> Iterator[str]:
    """Ask by the interface and by pages, and fail in every way; yield what must not be told."""
    served = build(folder)
    ana, browser = served.person("ana"), visit(served, "ana")
    yield from (SECRET, served.keys["ana"], browser.cookie, browser.token)
    for key in ("first-question", "first-question", "another"):
        said = ana.ask(key, SECRET).json()
        yield from (key, *(str(cell) for row in said["rows"] for cell in row))
    assert ana.get("/v1/answers/first-question").status_code == 200
    assert browser.get("/ask/visits", params={"sql": SECRET, "epsilon": "0.5"}).status_code == 200
    assert browser.get("/ask/visits/explanation", params={"sql": SECRET, "epsilon": "0.5"}).status_code == 200
    assert browser.post("/ask/visits", sql=SECRET, epsilon="0.5", key="by-form").status_code == 303
    assert ana.ask("no-question", f"{SECRET} AND nonsense = 1").status_code == 400
    assert ana.post("/v1/datasets/visits/answers", json={"sql": [SECRET], "more": SECRET}).status_code == 400
    assert served.bearing(f"{served.keys['ana']}!").get("/v1/me").status_code == 401

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET, served.keys["ana"])

    served.service.questions.find = fail  # type: ignore[method-assign]
    assert ana.get("/v1/answers/first-question").status_code == 500
    served.close()
    with httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200)), headers=bearer("inb_x")) as one:
        one.post("https://provider.example/token", data={"code": SECRET})


def use_control(_: Path) -> Iterator[str]:
    """Send a question to an application of the usual kind."""
    app = FastAPI()
    app.get("/ask")(_echo)

    async def ask() -> None:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            await client.get("/ask", params={"sql": SECRET})

    asyncio.run(ask())
    yield SECRET


async def _echo(sql: str) -> str:
    return sql


if __name__ == "__main__":
    use: Callable[[Path], Iterator[str]] = use_control if "control" in sys.argv else use_server
    collected = Collected()
    with tempfile.TemporaryDirectory() as place:
        secrets = list(use(Path(place)))
    print(json.dumps({"secrets": secrets, **collected.data()}))  # noqa: T201  the test reads it
