"""The notebooks of examples/, run from an empty folder: `python -m tests.helpers.notebooks` keeps what they show.

Noise is random, and what is kept must not be: for the time of a run every process takes its random bytes from a seed.
So a notebook that has not changed shows the same numbers again, and a difference in the repository is a difference.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from tests.helpers.programs import PATIENCE, ROOT

FOLDER = ROOT / "examples" / "notebooks"

SEEDED = """\
import os, random, sys
_words = [word for word in sys.orig_argv if "ipykernel" not in word and not os.path.isabs(word)]
os.urandom = random.Random(" ".join(_words)).randbytes
"""
"""Imported by each Python before anything else.  Each command has a seed of its own: they would share their noise."""

NUMBER = r"[-+]?\d[\d,.:]*(?:e[-+]?\d+)?|nothing learnt|\bNaN\b|\bNone\b"


def notebooks() -> list[Path]:
    """Return all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def load(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def is_run(cell: Any) -> bool:
    """Return whether a cell is run."""
    return bool(cell.cell_type == "code")


def execute(notebook: Any) -> Any:
    """Return a notebook with what its cells show when they are run in an empty folder, one after the other."""
    run = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    run.cells = [cell for cell in run.cells if is_run(cell)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as seeds:
        Path(seeds, "sitecustomize.py").write_text(SEEDED, "utf-8")
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(Path(seeds, "kernel")))
        with _ended_with(kernel) as started:
            client = NotebookClient(run, km=kernel, timeout=PATIENCE, coalesce_streams=True, on_notebook_start=started)
            client.execute(env=os.environ | {"PYTHONPATH": seeds, "PATH": _path(), "COLUMNS": "80"}, cwd=folder)
    return run


@contextmanager
def _ended_with(kernel: AsyncKernelManager) -> Iterator[Callable[..., None]]:
    """End what a notebook has started and, since it failed, not stopped; yield what is to be called when it begins."""
    groups: list[int] = []

    def started(**_: Any) -> None:
        provisioner: Any = kernel.provisioner
        groups.append(provisioner.pgid)

    try:
        yield started
    finally:
        for group in groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


def _path() -> str:
    """Return where programs are, those of this environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def shown(cell: Any) -> list[str]:
    """Return what a cell shows, in a form in which every number is as good as another."""
    return [text for output in cell.outputs for text in _texts(output)]


def _texts(output: Any) -> list[str]:
    if output.output_type == "stream":
        return [_without_numbers(output.text)]
    data = output.get("data", {})
    kind = next(kind for kind in ("image/png", "text/html", "text/plain") if kind in data)
    return [kind if kind == "image/png" else _without_numbers(data[kind])]


def _without_numbers(text: str) -> str:
    """Return a text without its numbers, and without the room that they take."""
    return re.sub(r"[\s─-]+", " ", re.sub(NUMBER, "#", text)).strip()


def keep(path: Path) -> None:
    """Run a notebook, and write what it shows into it."""
    notebook = load(path)
    outputs = iter(execute(notebook).cells)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it was run
        if is_run(cell):
            cell.outputs, cell.execution_count = _kept(next(outputs)), None
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def _kept(cell: Any) -> list[Any]:
    """Return what a cell shows, without what differs each time, and once: as a picture or a table if there is one."""
    for output in cell.outputs:
        data = output.get("data", {})
        if len(data) > 1:
            data.pop("text/plain", None)
        if "execution_count" in output:
            output["execution_count"] = None
    return list(cell.outputs)


def main(words: list[str]) -> None:
    """Keep what all notebooks show; or write out one that is named, with what it shows now."""
    for word in words:
        sys.stdout.write(nbformat.writes(execute(load(Path(word)))))  # type: ignore[no-untyped-call]
    for one in [] if words else notebooks():
        sys.stdout.write(f"running {one.name}\n")
        keep(one)


if __name__ == "__main__":
    main(sys.argv[1:])
