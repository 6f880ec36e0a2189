"""Csv files in other encodings, copied as UTF-8 where their owner alone can read them: DuckDB reads no other.

Each line is decoded by itself, and what a line holds that is not in the encoding is written out (`\\x81`), so that no
line decides about another, and no two texts become one.
"""

from __future__ import annotations

import gzip
import zlib
from glob import escape
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory

from inbounds.errors import InvalidContract


class Utf8Copy:
    """A folder of copies, which is gone when it is closed, or nobody needs it any more."""

    def __init__(self, files: list[str], encoding: str) -> None:
        self._folder = TemporaryDirectory(prefix="inbounds-")  # of mode 0700
        self.files = [str(Path(self._folder.name) / f"{number}.csv") for number in range(len(files))]
        try:
            for source, target in zip(sorted(files), self.files, strict=True):
                _copy(source, target, encoding)
        except InvalidContract:
            self.close()
            raise

    @property
    def pattern(self) -> str:
        """A pattern for all of them."""
        return escape(self._folder.name) + "/*.csv"

    def close(self) -> None:
        """Remove them."""
        self._folder.cleanup()


def open_bytes(path: str) -> gzip.GzipFile | BufferedReader:
    """Open a file that may be compressed."""
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")


def _copy(source: str, target: str, encoding: str) -> None:
    try:
        with open_bytes(source) as original, open(target, "wb") as copy:
            for lines in original:  # which end in \n; what ends in \r alone is a line, too
                for line in lines.splitlines(keepends=True):
                    copy.write(_as_utf_8(line, encoding))
    except (OSError, EOFError, zlib.error, UnicodeError) as problem:
        raise InvalidContract(
            f"cannot read {Path(source).name} ({type(problem).__name__}); check that it is whole, and yours to read"
        ) from None


def _as_utf_8(line: bytes, encoding: str) -> bytes:
    """Return a line with the line break that it has, and no other, whatever becomes of what is before it."""
    content = line.rstrip(b"\r\n")
    text = content.decode(encoding, "backslashreplace").replace("\n", r"\n").replace("\r", r"\r")
    return text.encode("utf-8", "backslashreplace") + line[len(content) :]
