"""Where a contract points to: tables, lists of keys, maps and a ledger; a text from elsewhere keeps to another's.

Whoever may try a text on a server need not be whoever may read the files and databases of its machine.  So such a text
names what the contract that is served names, at the same place, and nothing else: whatever it says, `keep_places` puts
that back, and `find_other_places` says where it said something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.toml_text import write_toml, write_value

Path = tuple[str, ...]
"""The keys that lead to a value."""

NAME = ("dataset", "name")
"""Which dataset it is: its budget and its address stand under that."""

ALWAYS = ("source", "table", "public", "ledger")
"""What these keys say is a place, or whether it is read as a public one, wherever they stand."""

FILES = ("keys", "map")
"""What these say is the path of a file, unless it is a list or a table."""

STAND_IN = ["a"]
"""What is read on with in place of a file of keys that is not another's."""

ELSEWHERE = "change the contract's own file and run inbounds check"

SECRETIVE = re.compile("pass|pwd|secret|token|sig|key", re.IGNORECASE)
"""In what programs call a password in an address."""

_USER_IN_TEXT = re.compile(r"""(://[^\s/:@"'?#]*):[^\s"']*@""")
_OPTION_IN_TEXT = re.compile(rf"""([?&][^=&\s"']*(?:{SECRETIVE.pattern})[^=&\s"']*=)[^&\s"'#]*""", re.IGNORECASE)
"""The same in a text around addresses, which is the custodian's own."""


def places_of(content: Mapping[str, Any]) -> dict[Path, Any]:
    """Return the places that a contract names, by where each stands: whatever could be one, at any depth."""
    return dict(_walk(content, ()))


def _walk(table: Mapping[str, Any], at: Path) -> Iterator[tuple[Path, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _walk(value, (*at, key))
        elif _is_place((*at, key), value):
            yield (*at, key), value


def _is_place(path: Path, value: Any) -> bool:
    return path[-1] in ALWAYS or path == NAME or (path[-1] in FILES and not isinstance(value, list))


def keep_places(contract: Contract, present: Contract) -> Contract:
    """Return a contract with the places of another one; tables and files that the other does not name are left out."""
    return replace(contract, content=_keep(contract.content, present.content, ()))


def _keep(table: Mapping[str, Any], present: Mapping[str, Any], at: Path) -> dict[str, Any]:
    known = _own_places(present, at)
    kept: dict[str, Any] = {}
    skipped: set[str] = set()
    for key, value in table.items():
        if _is_new_table((*at, key), present):
            continue
        if isinstance(value, Mapping):
            kept[key] = _keep(value, _inside(present, key), (*at, key))
        elif not _is_place((*at, key), value):
            kept[key] = value
        elif key in known:
            kept[key] = known[key]
        elif key == "keys":
            kept[key] = STAND_IN
        elif key == "map":  # without which it is within nothing
            skipped.add("within")
    kept = {key: value for key, value in kept.items() if key not in skipped}
    return {key: value for key, value in known.items() if key not in FILES} | kept


def _own_places(table: Mapping[str, Any], at: Path) -> dict[str, Any]:
    """Return the places that stand in a table itself."""
    return {
        key: value for key, value in table.items() if not isinstance(value, Mapping) and _is_place((*at, key), value)
    }


def _inside(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a table that stands in another, or an empty one."""
    inside = table.get(key)
    return inside if isinstance(inside, Mapping) else {}


def _is_new_table(path: Path, present: Mapping[str, Any]) -> bool:
    return len(path) == 2 and path[0] == "tables" and path[1] not in present


def find_other_places(contract: Contract, present: Contract) -> Iterator[InvalidContract]:
    """Yield a refusal for each place that a contract names, or leaves out, other than another one does."""
    yield from _find(contract, contract.content, present.content, ())


def _find(
    contract: Contract, table: Mapping[str, Any], present: Mapping[str, Any], at: Path
) -> Iterator[InvalidContract]:
    known = _own_places(present, at)
    for key, value in table.items():
        path = (*at, key)
        if _is_new_table(path, present):
            yield contract.refuse(
                f"only tables of the served contract can be tried, and {shown(key)} is not one; leave it out, or "
                f"{ELSEWHERE}",
                *path,
            )
        elif isinstance(value, Mapping):
            yield from _find(contract, value, _inside(present, key), path)
        elif _is_place(path, value) and not (key in known and _is_same(value, known[key])):
            yield contract.refuse(_explain(key, value, known), *path)
    for key in known:
        if key not in table and key not in FILES:
            yield contract.refuse(_explain(key, None, known), *at, key)


def _explain(key: str, value: Any, known: Mapping[str, Any]) -> str:
    """Say what a place has to be, and what it is; None if it is missing."""
    if key not in known:
        instead = "list the keys in [ ]" if key == "keys" else "leave it out"
        return f"{key} may not name what the served contract does not, got {_show(value)}; {instead}, or {ELSEWHERE}"
    stays = write_value(hide_password(known[key]) if isinstance(known[key], str) else known[key])
    got = "and is missing" if value is None else f"got {_show(value)}"
    return f"{key} must be that of the served contract, {got}; write {key} = {stays}, or {ELSEWHERE}"


def _show(value: Any) -> str:
    return shown(hide_password(value) if isinstance(value, str) else value)


def _is_same(value: Any, known: Any) -> bool:
    if isinstance(value, str) and isinstance(known, str):
        return hide_password(value) == hide_password(known)
    return type(value) is type(known) and bool(value == known)


# Passwords, which no browser is shown.


def hide_password(place: str) -> str:
    """Return an address without a password; any other place as it is.

    What somebody else wrote is looked at here, so there is no search that goes back.
    """
    scheme, is_address, rest = place.partition("://")
    if not is_address:
        return place
    before, at, host = rest.rpartition("@")
    user, has_more, _ = before.partition(":")
    if at and has_more and not set("/?#") & set(user):
        rest = f"{user}@{host}"
    where, asks, options = rest.partition("?")
    return f"{scheme}://{where}{asks}{'&'.join(map(_hide_option, options.split('&')))}"


def _hide_option(option: str) -> str:
    name, is_set, _ = option.partition("=")
    return f"{name}=" if is_set and SECRETIVE.search(name) else option


def has_password(contract: Contract) -> bool:
    """Return whether a place of a contract has a password in it."""
    return _hide(contract.content, ()) != contract.content


def write_without_passwords(contract: Contract) -> str:
    """Return the text of a contract without the passwords of its places: as it was written, if that is possible.

    Those in comments are left out as well.
    """
    hidden = _hide(contract.content, ())
    everywhere = _OPTION_IN_TEXT.sub(r"\1", _USER_IN_TEXT.sub(r"\1@", contract.text))
    where_named = contract.text
    for place in filter(lambda value: isinstance(value, str), places_of(contract.content).values()):
        where_named = where_named.replace(place, hide_password(place))
    for text in (everywhere, where_named):
        try:
            if Contract.parse(text).content == hidden:
                return text
        except InvalidContract:
            continue
    return write_toml(hidden)  # an address that is written so that only a reader of TOML finds its password


def _hide(table: Mapping[str, Any], at: Path) -> dict[str, Any]:
    hidden = {key: _hide(value, (*at, key)) if isinstance(value, Mapping) else value for key, value in table.items()}
    places = _own_places(table, at)
    return hidden | {key: hide_password(value) for key, value in places.items() if isinstance(value, str)}
