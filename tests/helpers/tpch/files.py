"""The files of TPC-H, made by `tpchgen-cli`: the same rows for a scale wherever they are made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TABLES = ("customer", "orders", "lineitem", "supplier", "part", "partsupp", "nation", "region")
PRIVATE = TABLES[:3]
GENERATOR = "tpchgen-cli"


def generator() -> str | None:
    """Return where the program is that makes the files: beside this Python, or anywhere on the path."""
    return shutil.which(GENERATOR, path=str(Path(sys.executable).parent)) or shutil.which(GENERATOR)


def make_files(program: str, folder: Path, scale: str) -> None:
    """Write a parquet file for each table; at scale 1 there are 150,000 customers and 6 million lines."""
    subprocess.run(
        [program, "parquet", "--quiet", "--scale-factor", scale, "--output-dir", str(folder)],
        check=True,
        capture_output=True,
    )
