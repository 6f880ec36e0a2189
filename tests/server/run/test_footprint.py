"""What the server needs is imported by the server alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

SERVING = ("fastapi", "starlette", "uvicorn", "pydantic", "httpx2", "prometheus_client", "joserfc", "cryptography")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["inbounds", "inbounds.query", "inbounds.ledger", "inbounds.cli.main"])
def test_the_core_imports_nothing_of_the_server(module: str) -> None:
    """Whoever installed the extra `serve` and does not serve starts as before: none of its packages is imported."""
    code = f"import sys, {module}; print([name for name in {SERVING!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_keys_alone_need_no_provider() -> None:
    """A server without an identity provider does not import what reads tokens."""
    code = "import sys, inbounds.server.run.process; print('joserfc' in sys.modules, 'cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "False False"
