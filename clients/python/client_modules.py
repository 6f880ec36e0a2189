"""The modules of `inbounds-client`: those of `inbounds.client` and all that they import, under another name.

`inbounds.client.connection` becomes `inbounds_client.connection`, and `inbounds.errors` is `inbounds_client.errors`.
Only imports are rewritten, where the syntax tree says that they are, so that every line keeps its number.  What is
imported for type checkers only, and is not among the modules, is `Any` to them.

Whatever could not work under the other name ends the build: an import of what the client does not bring, a way of
importing that is not rewritten, a text that names a module or an extra of `inbounds`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = "inbounds"
CLIENT = "inbounds.client"
NAME = "inbounds_client"

OF_INBOUNDS = re.compile(r"(?<![\w./@-])inbounds(?:\.[a-z_]|\[)")
"""A module of `inbounds`, or an extra of its distribution, in a text; a host of that name is neither."""


class UnfitModule(Exception):
    """A module that cannot be a part of the client."""


class Import(NamedTuple):
    """A `from … import …` in a module."""

    node: ast.ImportFrom
    modules: tuple[str, ...]
    """The modules of `inbounds` that it needs."""
    for_types: bool
    """Whether it is for type checkers only."""


def find_sources(root: Path) -> Path:
    """Return the folder of the package `inbounds`: a copy in a source distribution, else the one in the clone."""
    places = (root / "sources" / PACKAGE, root / ".." / ".." / "src" / PACKAGE)
    for place in places:
        if (place / "client" / "__init__.py").exists():
            return place.resolve()
    raise UnfitModule(f"there are no sources of {PACKAGE} in {' or '.join(map(str, places))}; build from a whole clone")


def read_version() -> str:
    """Return the version, which is that of `inbounds`."""
    path = find_sources(Path(__file__).resolve().parent) / "version.py"
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise UnfitModule(f"{path} has no __version__; write it there as a text")


def collect_modules(sources: Path, foreign: Collection[str]) -> dict[str, Path]:
    """Return the modules of the client and all that they import, by name; `foreign` is what may come from elsewhere."""
    modules: dict[str, Path] = {}
    waiting = [_name_of(sources, path) for path in sorted((sources / "client").rglob("*.py"))]
    while waiting:
        name = waiting.pop()
        if name in modules or name == PACKAGE:  # in whose place is the package of the client itself
            continue
        path = _path_of(sources, name)
        assert path is not None
        modules[name] = path
        waiting.append(name.rpartition(".")[0])
        tree = ast.parse(path.read_text("utf-8"))
        _refuse_foreign(name, tree, foreign)
        for found in find_imports(sources, name, tree):
            waiting += () if found.for_types else found.modules
    return dict(sorted(modules.items()))


def rename(module: str) -> str:
    """Return what a module is called in the client."""
    inside = module.removeprefix(CLIENT if module == CLIENT or module.startswith(f"{CLIENT}.") else PACKAGE)
    return f"{NAME}{inside}"


def write_modules(sources: Path, foreign: Collection[str], folder: Path) -> None:
    """Write the package of the client into a folder."""
    modules = collect_modules(sources, foreign)
    files: dict[Path, str] = {}
    for name, path in modules.items():
        place = Path(*rename(name).split("."))
        file = place / "__init__.py" if path.name == "__init__.py" else place.with_suffix(".py")
        if file in files:
            raise UnfitModule(f"two modules of {PACKAGE} would be {rename(name)}; call one of them otherwise")
        files[file] = rewrite_module(sources, name, path.read_text("utf-8"), modules)
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "utf-8")
    (folder / NAME / "py.typed").touch()


def rewrite_module(sources: Path, name: str, text: str, modules: Mapping[str, Path]) -> str:
    """Return the text of a module with its imports rewritten; every line keeps its number."""
    lines = text.split("\n")
    for found in find_imports(sources, name, ast.parse(text)):
        node = found.node
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        indent = lines[first][: node.col_offset]
        if all(module in modules for module in found.modules):
            before = f"from {node.module} import"
            if not lines[first].startswith(indent + before):
                raise UnfitModule(f"{name}, line {node.lineno}: write it as {before!r}, with single blanks")
            after = f"from {rename(str(node.module)) if node.module != PACKAGE else NAME} import"
            lines[first] = indent + after + lines[first][len(indent + before) :]
        elif found.for_types:
            names = ", ".join(f"Any as {alias.asname or alias.name}" for alias in node.names)
            lines[first : last + 1] = [f"{indent}from typing import {names}", *[""] * (last - first)]
    rewritten = "\n".join(lines)
    _refuse_texts(name, ast.parse(rewritten))
    return rewritten


def find_imports(sources: Path, name: str, tree: ast.Module) -> Iterator[Import]:
    """Yield the imports of modules of `inbounds`."""
    for node, for_types in _walk(tree, for_types=False):
        if isinstance(node, ast.Import):
            if any(alias.name.partition(".")[0] == PACKAGE for alias in node.names):
                raise UnfitModule(f"{name}, line {node.lineno}: write it as 'from {PACKAGE}… import …'")
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UnfitModule(f"{name}, line {node.lineno}: write it with the full name of the module")
            module = str(node.module)
            if module.partition(".")[0] == PACKAGE:
                parts = [f"{module}.{alias.name}" for alias in node.names]
                needed = [part if _path_of(sources, part) else module for part in parts]
                if PACKAGE in needed or (module == PACKAGE and CLIENT in needed):  # which have no module of their own
                    raise UnfitModule(f"{name}, line {node.lineno}: import it from the module that has it")
                yield Import(node, tuple(dict.fromkeys(needed)), for_types)


def _walk(node: ast.AST, *, for_types: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield all nodes, and whether they are for type checkers only."""
    yield node, for_types
    checking = isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, for_types=for_types or (checking and field == "body"))


def _refuse_foreign(name: str, tree: ast.Module, foreign: Collection[str]) -> None:
    """Refuse a module that imports what the client does not bring."""
    for node, for_types in _walk(tree, for_types=False):
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported = [str(node.module)]
        for module in imported:
            top = module.partition(".")[0]
            if not for_types and top not in sys.stdlib_module_names and top not in (PACKAGE, *foreign):
                raise UnfitModule(f"{name} imports {module}, which the client does not bring; import it elsewhere")


def _refuse_texts(name: str, tree: ast.Module) -> None:
    """Refuse a module with a text that is about modules or extras of `inbounds`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OF_INBOUNDS.search(node.value):
            raise UnfitModule(
                f"{name}, line {node.lineno}: a text names a module or an extra of {PACKAGE}, and there is none here; "
                "say it without"
            )


def _name_of(sources: Path, path: Path) -> str:
    parts = path.relative_to(sources.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path_of(sources: Path, module: str) -> Path | None:
    """Return the file of a module, None if it is none."""
    place = sources.parent.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()), None)
