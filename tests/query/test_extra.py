"""What is missing is named."""

from __future__ import annotations

import subprocess
import sys


def test_without_its_extra_the_package_names_it() -> None:
    """Importing `inbounds.query` where sqlglot is not installed says what to install, and nothing else."""
    program = "import sys; sys.modules['sqlglot'] = None; import inbounds.query"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last == "ImportError: querying tables needs sqlglot and DuckDB: pip install 'inbounds[query]'"
    assert "During handling" not in found.stderr
