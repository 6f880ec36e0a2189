"""Files that are made to hang or to crash the checker, or to have it believe what it should not."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds import BoundedLaplace, Bounds
from inbounds.published import BoundedGaussian
from tests.helpers.certificates import CANNOT_TELL, HOLDS, PROGRAM, REFUTED, checker, found, random_certificate
from tests.helpers.programs import PATIENCE

GOOD = json.loads(BoundedLaplace(Bounds(0, 5) | Bounds(7, None), 1, 1).certificate.to_json())
NASTY: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, float("nan"), float("inf"), 1e308, 10**400, "", "NaN", "inf", "-inf",
    "1e999999999", "1e-999999999", "1/0", "-1/0", "0/0", "1//2", "0", "-1", "1.5", " 1", "1 ", "+1", "0x10",
    "١", "1_000", "9" * 4000, "1/" + "9" * 4000, "9" * 4001, "-" + "9" * 4000, [], {},
    [[]], [None], ["1"], {"1": "1"}, "laplace", "\ud800",
]  # fmt: skip


def run(data: bytes) -> tuple[int, str, str]:
    """Run the program as people do, with a file on its standard input."""
    command = [sys.executable, "-I", str(PROGRAM), "-"]
    done = subprocess.run(command, input=data, capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where every value of a document is."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def changed(document: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """Return a copy of a document with something done at a place."""
    copy = json.loads(json.dumps(document))
    part = copy
    for key in path[:-1]:
        part = part[key]
    change(part, path[-1])
    return copy


@pytest.mark.parametrize("seed", range(12))
def test_whatever_stands_in_a_field_there_is_an_answer(seed: int) -> None:
    """Each field in turn is replaced by each of many nasty values, and left out: there is a verdict, and no error."""
    document = json.loads(random_certificate(Random(seed)).to_json())
    document["law"] = json.loads(json.dumps(document["law"]))
    rng = Random(seed)
    for path in [place for place in places(document) if place and place[0] != "about"][:120]:
        for value in rng.sample(NASTY, 12):
            code, text = found(changed(document, path, lambda part, key, value=value: part.__setitem__(key, value)))  # type: ignore[misc]
            assert code in {HOLDS, CANNOT_TELL, REFUTED}, (path, value)
            assert len(text) < 20_000
        if isinstance(path[-1], str):
            assert found(changed(document, path, lambda part, key: part.pop(key)))[0] == CANNOT_TELL, path
            assert found(changed(document, path, lambda part, key: part.update({key + "s": "1"})))[0] == CANNOT_TELL, (
                path
            )


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "{}", "NaN", "1e999999999", '"', "{", "\x00", "[" * 100_000, '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000, "9" * 100_000, '{"format": "inbounds certificate"}',
        json.dumps({**GOOD, "version": 2}), json.dumps({**GOOD, "format": "another"}), json.dumps({**GOOD, "more": 1}),
        json.dumps(GOOD).replace('"loss":', '"loss": "0", "loss":'),
        json.dumps(GOOD).replace('"epsilon": "1"', '"epsilon": 1e999'),
        json.dumps(GOOD).replace('"epsilon": "1"', '"epsilon": NaN'),
    ],
)  # fmt: skip
def test_what_is_no_certificate_tells_nothing(text: str) -> None:
    """Of a file that is no certificate, is nested without end, or says something twice, nothing can be told."""
    code, said, complaint = run(text.encode("utf-8", "surrogatepass"))
    assert (code, complaint) == (CANNOT_TELL, "")
    assert said.startswith("cannot tell: ")


def _laplace(**changes: str) -> Any:
    document = json.loads(json.dumps(GOOD))
    document["law"].update(changes)
    return document


def _many_spans(count: int) -> Any:
    document = _laplace(step="1")
    document["claim"]["bounds"]["spans"] = [[str(3 * k), str(3 * k + 1)] for k in range(count)]
    return document


def _table(rows: int, columns: int) -> Any:
    document = json.loads(json.dumps(GOOD))
    document["claim"]["bounds"] = {"spans": [["0", str(rows - 1)]], "step": "1", "offset": "0"}
    document["law"] = {
        "kind": "table", "step": "1", "start": "0", "width": "1", "interpolated": False,
        "releases": [str(k) for k in range(columns)], "total": str(columns), "rows": [["1"] * columns] * rows,
    }  # fmt: skip
    return {**document, "pairs": None}


def _deep_draw(depth: int) -> str:
    draw = '{"level": "1/2", "rate": "1", "above": null, "below": ' * depth + "null" + "}" * depth
    document = {**GOOD, "law": {"kind": "rank", "step": "1", "draw": "DRAW"}, "pairs": None}
    return json.dumps(document).replace('"DRAW"', draw)


HEAVY = {
    "a step of almost nothing": json.dumps(_laplace(step="1/" + "9" * 4000)),
    "a vast step": json.dumps(_laplace(step="9" * 4000)),
    "a scale of almost nothing": json.dumps(_laplace(scale="1/" + "9" * 4000)),
    "a vast scale": json.dumps(_laplace(scale="9" * 4000)),
    "a scale of many digits": json.dumps(_laplace(scale="9" * 3999 + "/" + "7" * 3999)),
    "many spans": json.dumps(_many_spans(200_000)),
    "a large table": json.dumps(_table(1000, 1000)),
    "a long row": json.dumps(_table(2, 1_000_000)),
    "many rows": json.dumps(_table(1_000_000, 1)),
    "draws within draws": _deep_draw(100_000),
    "a few draws within draws": _deep_draw(800),
    "a file that is too long": " " * 2**24 + json.dumps(GOOD),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
def test_what_would_take_too_long_is_not_computed(text: str) -> None:
    """Whatever a file asks for, the program comes to an end, with a verdict and without a complaint."""
    code, said, complaint = run(text.encode())
    assert code in {HOLDS, CANNOT_TELL, REFUTED}
    assert complaint == ""
    assert said.count("\n") == 1


def test_a_loss_that_can_hardly_be_told_from_what_is_allowed_tells_nothing() -> None:
    """Where a loss is exactly what is allowed, no number of digits decides, and the program gives up."""
    document = json.loads(json.dumps(GOOD))
    document["claim"]["bounds"] = {"spans": [["0", "1"]], "step": "1", "offset": "0"}
    document["claim"]["loss"] = "1"
    document["law"] |= {"step": "1", "scale": "1"}
    document["pairs"] = [["0", "1"]]
    assert found(document) == (CANNOT_TELL, "cannot tell: it is too close or too large to be decided")
    document["law"]["scale"] = "999999999999999999999999999999/1000000000000000000000000000000"
    assert found(document)[0] == REFUTED


def test_a_law_that_is_not_known_is_named() -> None:
    """Of the laws that the program does not know, it says so."""
    document = json.loads(BoundedGaussian(Bounds(0, 1), 1, 1).certificate.to_json())
    assert found(document) == (CANNOT_TELL, "cannot tell: this program does not know the law of 'bounded Gaussian'")


def test_the_program_stands_alone(tmp_path: Path) -> None:
    """The program has at most 400 lines, imports Python's standard library and nothing else, and runs by itself."""
    source = PROGRAM.read_text("utf-8")
    assert len(source.splitlines()) <= 400
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    alone = tmp_path / "alone.py"
    alone.write_text(source, "utf-8")
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(GOOD), "utf-8")
    command = [sys.executable, "-I", "-S", "-E", str(alone), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (HOLDS, "holds: no neighbours lose more than 1\n", "")
    assert checker.__doc__ is not None
