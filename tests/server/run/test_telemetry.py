"""Nothing that is asked or answered leaves by telemetry, whatever the process has switched on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from urllib.parse import unquote_plus

import pytest

from tests.helpers.programs import ROOT


def collected(*arguments: str) -> dict[str, Any]:
    """Run the program whose telemetry is collected; providers are set once for a process, so it is another one."""
    command = [sys.executable, "-m", "tests.helpers.watched_server", *arguments]
    environment = {"FASTAPI_OTEL_AUTO_CONFIGURE": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=ROOT, env=environment,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "stderr": done.stderr}


@pytest.mark.slow
def test_no_span_log_or_metric_tells_a_question() -> None:
    """Where OpenTelemetry has providers for everything, no question, key or answer is in what they collect or log."""
    found = collected()
    secrets = found.pop("secrets")
    assert len(secrets) >= 10
    for where, text in found.items():
        assert [secret for secret in secrets if secret in text or secret in unquote_plus(text)] == [], where
    assert (found["spans"], found["metrics"], found["logs"]) == ("", "", "")


@pytest.mark.slow
def test_the_collector_sees_what_is_told() -> None:
    """The control: an application of FastAPI as it comes tells the question, and this is seen."""
    found = collected("control")
    assert found["secrets"][0] in unquote_plus(found["spans"])
    assert "http.server.request.duration" in found["metrics"]
