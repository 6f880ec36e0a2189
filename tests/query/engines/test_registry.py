"""Which engine reads a source is said in one place."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from inbounds.query import Dataset
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines import registry
from inbounds.query.engines.duckdb import open_table
from inbounds.query.engines.engine import Kind
from inbounds.query.engines.registry import SourceKind

CONTRACT = """
[dataset]
name = "visits"
source = 'SOURCE'
table = "visits"
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
[budget]
total = 1
"""


def test_a_database_that_is_registered_is_read_for_contracts_and_for_drafts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new engine is its module and what the registry says of it: nothing else has to know of it."""
    module = ModuleType("inbounds.query.engines.made_up")
    module.open_table = open_table  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    kind = SourceKind("made_up", (".madeup",), "a made-up file")
    monkeypatch.setattr(registry, "FILES", (*registry.FILES, kind))
    path = tmp_path / "clinic.madeup"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE visits AS SELECT CAST(5 AS BIGINT) AS age FROM range(3)")
    with Dataset.parse(CONTRACT.replace("SOURCE", str(path))) as dataset:
        assert dataset.engine.run(dataset.count().plan(1).sql) == [(3,)]
    assert Schema.read(str(path), table="visits").columns == {"age": Kind.INTEGER}
