"""A real browser that looks at pages, and notes whatever a page should not do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.helpers import page_words as words
from tests.helpers.engine_places import absent
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, Response

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
"""Containers have no sandbox for it and little shared memory; it looks at our own pages only."""


def asked_for() -> str:
    """Return the path of the browser; the test is skipped where none was asked for."""
    found = os.environ.get("INBOUNDS_TEST_BROWSER")
    if not found:
        absent("no browser asked for: set INBOUNDS_TEST_BROWSER to its path, which scripts/chromium prints")
    return found or ""


@contextmanager
def launched(path: str | None = None) -> Iterator[Browser]:
    """Start a browser, or the one that was asked for, for the time of the block."""
    path = path or asked_for()
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  only where there is a browser
    except ImportError:
        absent("no Playwright: pip install 'playwright>=1.65,<1.66'")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Looker:
    """Somebody's window: a page, and what went wrong on it so far."""

    context: BrowserContext
    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)
    expected: frozenset[int] = frozenset((200, 303))
    """Statuses that are no failure; a test that provokes a refusal adds its own."""

    def watch(self) -> None:
        """Note console errors, failed requests, and requests to any other host."""
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)
        self.page.on("dialog", self._interrupted)

    def _said(self, message: ConsoleMessage) -> None:
        refused = "the server responded with a status of" in message.text
        if message.type in ("error", "warning") and not refused:  # these are noted as responses
            self.wrong.append(f"console {message.type} {message.text}")

    def _interrupted(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(f"{self.url}/"):
            self.wrong.append(f"request elsewhere {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status not in self.expected:
            self.wrong.append(f"{response.status} {response.url}")

    def go(self, path: str) -> Looker:
        """Open an address."""
        self.page.goto(f"{self.url}{path}")
        return self

    def click(self, name: str, role: Any = "button") -> Looker:
        """Press what bears this name."""
        self.page.get_by_role(role, name=name, exact=False).first.click()
        return self

    def fill(self, label: str, text: str) -> Looker:
        """Write into the field that bears a label."""
        self.page.get_by_label(label, exact=True).fill(text)
        return self

    def choose(self, label: str, value: str) -> Looker:
        """Choose from the list that bears a label."""
        self.page.get_by_label(label, exact=True).select_option(value)
        return self

    def sign_in(self, key: str, after: str = "/sign-in") -> Looker:
        """Sign in with a key, and wait until that is done."""
        self.go(after).fill(words.KEY, key).page.locator("main").get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()
        return self

    def sees(self, text: str) -> Looker:
        """Wait until some text is on the page."""
        self.page.locator("main").get_by_text(text, exact=False).first.wait_for()
        return self

    def at(self, path: str) -> Looker:
        """Wait until the address begins like this."""
        self.page.wait_for_url(lambda url: url.startswith(f"{self.url}{path}"))
        return self

    @property
    def is_too_wide(self) -> bool:
        """Whether one has to scroll sideways."""
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return bool(self.page.evaluate(wide))


@contextmanager
def looking(
    browser: Browser, server: Running, *, width: int = 1280, script: bool = True, **more: Any
) -> Iterator[Looker]:
    """Open a window of somebody for the time of the block; nothing may have gone wrong in it by then."""
    size = {"width": width, "height": 900}
    with browser.new_context(viewport=size, java_script_enabled=script, **more) as context:  # type: ignore[arg-type]
        context.set_default_timeout(1000 * PATIENCE)
        found = Looker(context, context.new_page(), server.url)
        found.watch()
        yield found
        assert found.wrong == []
