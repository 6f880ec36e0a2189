"""A column of a file, released: the rest of the file stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inbounds.cli.files.csv_file import release_csv
from inbounds.cli.files.parquet_file import release_parquet
from inbounds.cli.shell.output import progress
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import replacing


def release_column(mechanism: Any, source: Path, column: str, target: Path) -> tuple[int, int]:
    """Write a copy of a file with one column released; return how many cells were released, and how many are empty.

    An empty cell stays empty, and so does NaN: whether a value is there is not protected.
    """
    kinds = [path.suffix.lower() for path in (source, target)]
    if kinds not in ([".csv", ".csv"], [".parquet", ".parquet"]):
        raise InvalidParameter(
            f"both files must end in .csv or both in .parquet, got {source.name!r} and {target.name!r}; rename them, "
            "or convert one with another tool"
        )
    if not source.is_file():
        raise InvalidParameter(f"there is no file {str(source)!r}; check the name given as --file")
    with replacing(target) as unfinished:
        if kinds[0] == ".parquet":
            return release_parquet(mechanism, source, column, unfinished)
        with progress(source.stat().st_size) as advance:
            return release_csv(mechanism, source, column, unfinished, advance)
