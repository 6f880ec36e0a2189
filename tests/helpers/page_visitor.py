"""Somebody who looks at pages with a browser that runs no script: it keeps cookies, and sends forms as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx2
from fastapi import FastAPI

from tests.helpers.served_hospital import As, Served

AS_PEOPLE = {"Accept": "text/html"}
COOKIE = "inbounds"


class _Token(HTMLParser):
    found = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look for the token of a form."""
        given = dict(attrs)
        if tag == "input" and given.get("name") == "token":
            self.found = given.get("value") or ""


@dataclass
class Visit:
    """Somebody's browser; cookies are its own, whatever others do at the same time."""

    sender: As
    cookie: str = ""
    token: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: dict(AS_PEOPLE))

    def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """Send a request, with the cookie."""
        self.sender.client.cookies.clear()
        headers = {**self.headers, **more.pop("headers", {})}
        if self.cookie:
            headers["Cookie"] = f"{COOKIE}={self.cookie}"
        return self.sender.request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> httpx2.Response:
        """Look at a page."""
        return self.request("GET", path, **more)

    def post(self, path: str, headers: Mapping[str, str] | None = None, /, **fields: str) -> httpx2.Response:
        """Send a form, with the token unless another is given."""
        return self.request("POST", path, data={"token": self.token, **fields}, headers=headers or {})

    def sign_in(self, key: str, after: str = "") -> httpx2.Response:
        """Sign in with a key; the next requests have what this one gave."""
        found = self.post("/sign-in", key=key, next=after)
        self.cookie = found.cookies.get(COOKIE) or self.cookie
        self.token = token_of(self.get("/plan?bounds=%5B0%2C1%5D&sensitivity=nothing").text)
        return found


def token_of(text: str) -> str:
    """Return the token that the forms of a page carry, nothing if they have none."""
    reader = _Token()
    reader.feed(text)
    return reader.found


def visit(served: Served, person: str | None = None) -> Visit:
    """Return the browser of somebody who has signed in, or of nobody."""
    found = Visit(served.nobody)
    if person is not None:
        assert found.sign_in(served.keys[person]).status_code == 303
        assert found.cookie
        assert found.token
    return found


def page_routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield method and path of every page, and not those of the interface of programs."""
    for one in app.routes:
        for route in getattr(getattr(one, "original_router", None), "routes", [one]):
            if not is_for_programs(route.path):
                yield from ((method, route.path) for method in route.methods)


def is_for_programs(path: str) -> bool:
    """Return whether an address is of the interface of programs."""
    return path.startswith("/v1") or path in ("/metrics", "/healthz", "/readyz")
