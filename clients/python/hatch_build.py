"""What hatchling asks for the files of `inbounds-client`: its modules for a wheel, and their sources for an sdist."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))  # hatchling imports this file, and not the folder

from client_modules import NAME, PACKAGE, collect_modules, find_sources, write_modules


class ClientModules(BuildHookInterface[Any]):
    """Adds the modules of the client to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files."""
        del version
        sources, foreign = find_sources(Path(self.root)), self.config["may-import"]
        if self.target_name == "sdist":
            files = collect_modules(sources, foreign).values()
            build_data["force_include"] |= {
                str(path): f"sources/{PACKAGE}/{path.relative_to(sources).as_posix()}" for path in files
            }
            return
        self._folder = TemporaryDirectory()
        write_modules(sources, foreign, Path(self._folder.name))
        made = {str(Path(self._folder.name) / NAME): NAME}
        build_data["force_include"] |= made
        build_data["force_include_editable"] = made

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the build."""
        del version, build_data, artifact_path
        if self.target_name != "sdist":
            self._folder.cleanup()
