"""What is public says what it does, once: a method that overrides another says only what is more."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import inbounds

PUBLIC = ["inbounds", *(f"inbounds.{part}" for part in ("client", "joint", "ledger", "plot", "published", "query"))]
"""What people import from: their pages show every method with its text."""


def methods() -> Iterator[tuple[type, str, object]]:
    """Yield the public methods and properties of all classes, each where it is written."""
    for module in pkgutil.walk_packages(inbounds.__path__, "inbounds."):
        if module.name.endswith("__main__"):
            continue
        try:
            held = vars(importlib.import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for kind in held.values():
            if inspect.isclass(kind) and kind.__module__ == module.name and not kind.__name__.startswith("_"):
                yield from ((kind, name, value) for name, value in vars(kind).items() if not name.startswith("_"))


def documentation(value: object) -> str | None:
    """Return what a method or a property of ours says of itself; None for what is neither."""
    for wrapper in ("fget", "func", "__func__"):
        value = getattr(value, wrapper, value)
    is_ours = inspect.isfunction(value) and value.__module__.startswith("inbounds")
    return (value.__doc__ or "") if is_ours else None


def overridden(kind: type, name: str) -> str:
    """Return what the method that is overridden says, of the nearest class that says something."""
    for parent in kind.__mro__[1:]:
        if name in vars(parent):
            text = documentation(vars(parent)[name])
            if text or text is None:
                return text or "an attribute, described where it stands"
    return ""


def words(text: str) -> str:
    """Return a text without its line breaks and its last stop."""
    return " ".join(text.split()).rstrip(".")


@pytest.mark.slow
def test_every_method_says_what_it_does_once() -> None:
    """A public method has a docstring, or overrides one that has; and it does not say the same again."""
    shown = {name for package in PUBLIC for name in importlib.import_module(package).__all__}
    seen, silent, repeated = 0, [], []
    for kind, name, value in methods():
        own, before = documentation(value), overridden(kind, name)
        if own is None:
            continue
        seen += 1
        if not own and not before:
            silent.append(f"{kind.__module__}.{kind.__name__}.{name}")
        if own and words(own) == words(before) and kind.__name__ not in shown:
            repeated.append(f"{kind.__module__}.{kind.__name__}.{name}")
    assert seen > 1000
    assert not silent
    assert not repeated
