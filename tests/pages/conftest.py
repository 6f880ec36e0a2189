"""What the tests of pages share: a small hospital that is served, anew for each test or once for a module."""

from __future__ import annotations

from tests.server.conftest import hospital, served

__all__ = ["hospital", "served"]
