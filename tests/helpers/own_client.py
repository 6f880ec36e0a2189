"""The client as a package of its own, `inbounds_client`, as `clients/python` makes it."""

from __future__ import annotations

import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.helpers.programs import ROOT

FOLDER = ROOT / "clients" / "python"

SETTINGS: dict[str, Any] = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))

FOREIGN: list[str] = SETTINGS["tool"]["hatch"]["build"]["hooks"]["custom"]["may-import"]
"""What its modules may import from elsewhere."""


def load_builder() -> ModuleType:
    """Return the module that collects the modules of the client and rewrites them."""
    spec = spec_from_file_location("client_modules", FOLDER / "client_modules.py")
    assert spec is not None
    assert spec.loader is not None
    builder = module_from_spec(spec)
    spec.loader.exec_module(builder)
    return builder


def build_client(folder: Path) -> Path:
    """Write the package into a folder, which is then one to import it from."""
    builder = load_builder()
    builder.write_modules(builder.find_sources(FOLDER), FOREIGN, folder)
    return folder
