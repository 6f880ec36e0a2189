"""Take the pictures of the page about the console: `python docs/pictures/console.py`.

It serves the made-up clinic by a process of its own, lets everybody do something there in Chromium, and takes a picture
of each page at two widths.  With `--dark` and a folder it takes the dark ones, to be looked at.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

WIDTHS = (360, 1280)
TALLEST = 2300
"""What is below so many pixels is left out."""

COLOURS = 96
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

ROLLUP = "SELECT clinic, finding, COUNT(*) FROM visits GROUP BY CUBE(clinic, finding)"
MEANS = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"
BOXES = "SELECT clinic, QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits GROUP BY clinic"
MONTHS = "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits GROUP BY DATE_TRUNC('month', day)"
SINGLE = "SELECT COUNT(*) FROM visits WHERE finding = 'rare'"
OWNED = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"


@contextmanager
def served() -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the made-up clinic; give its address, and everybody's key."""
    command = [sys.executable, "-m", "inbounds.cli", "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            said = ""
            while "inbounds query" not in said and process.stdout is not None:
                said += process.stdout.readline()
            address = re.search(r"http://[\d.:]+", said)
            assert address is not None
            yield address[0], dict(re.findall(r"^  (\w+) +\w+ +(inb_\S+)", said, re.M))
        finally:
            process.terminate()
            process.wait(30)


class Visit:
    """Somebody in a browser."""

    def __init__(self, browser: Browser, address: str, width: int, folder: Path, *, dark: bool) -> None:
        view = {"width": width, "height": 800 if width > 500 else 640}
        self.page: Page = browser.new_page(viewport=view, color_scheme="dark" if dark else "light")
        self.page.on("console", lambda said: sys.stdout.write(f"console: {said.text}\n"))
        self.address, self.width, self.folder = address, width, folder

    def sign_in(self, key: str) -> None:
        """Sign in with a key."""
        self.page.goto(f"{self.address}/sign-in")
        self.page.fill("#key", key)
        self.page.click("main form button")
        self.page.wait_for_url(re.compile("/(ask|keep|verify|reports)"))

    def ask(self, sql: str, epsilon: str) -> None:
        """Ask something of the clinic."""
        self.page.goto(f"{self.address}/ask/visits?sql={quote(sql)}&epsilon={epsilon}")
        self.page.click("form.ask button")
        self.page.wait_for_url(re.compile("/answers/"), timeout=60_000)

    def share(self, person: str, title: str) -> None:
        """Share the last answer with somebody."""
        self.page.goto(f"{self.address}/answers")
        self.page.click("main td a")
        self.page.click("text=New link")
        self.page.fill("#share-title", title)
        self.page.fill("#share-people", person)
        self.page.click("text=Create link")

    def save(self, sql: str, epsilon: str, name: str) -> None:
        """Save a query under a name."""
        self.page.goto(f"{self.address}/ask/visits?sql={quote(sql)}&epsilon={epsilon}")
        self.page.click("text=Save this query")
        self.page.fill("#saved-name", name)
        self.page.click("button:has-text('Save query')")
        self.page.wait_for_url(re.compile("epsilon="))

    def propose(self, title: str, name: str, edition: str, description: str) -> None:
        """Propose a report of all saved queries."""
        self.page.goto(f"{self.address}/reports")
        self.page.click("main summary")
        for field, text in (("title", title), ("name", name), ("edition", edition), ("description", description)):
            self.page.fill(f"#{field}-1", text)
        for box in self.page.query_selector_all("main input[type=checkbox]"):
            box.check()
        self.page.click("text=Propose report")
        self.page.wait_for_url(re.compile("/reports/"))

    def shoot(self, name: str, path: str | None = None, start: str | None = None) -> None:
        """Take a picture of a page, or of what begins at an element."""
        if path is not None:
            self.page.goto(f"{self.address}{path}")
        self.page.wait_for_load_state("networkidle")
        top = 0 if start is None else self.page.evaluate(f"document.querySelector('{start}').offsetTop - 16")
        height = min(TALLEST, self.page.evaluate("document.documentElement.scrollHeight") - top)
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        if wide > self.width:
            sys.stdout.write(f"{name} is {wide} wide at {self.width}\n")
        clip = {"x": 0, "y": top, "width": self.width, "height": height}
        found = Image.open(BytesIO(self.page.screenshot(clip=clip, full_page=True)))
        where = self.folder / f"console-{name}-{self.width}.png"
        found.convert("RGB").quantize(COLOURS).save(where, optimize=True)
        sys.stdout.write(f"{where.name}: {where.stat().st_size:,} bytes\n")


def shown(question: str, epsilon: str) -> str:
    """Return the address of a question that is explained."""
    return f"/ask/visits?sql={quote(question)}&epsilon={epsilon}"


def happen(visit: Visit, keys: dict[str, str]) -> None:
    """Let people do what the pictures show."""
    visit.sign_in(keys["ana"])
    for sql, epsilon in ((MEANS, "0.5"), (MONTHS, "0.5"), (BOXES, "0.5"), (ROLLUP, "0.8")):
        visit.ask(sql, epsilon)
    visit.page.goto(f"{visit.address}/ask/visits")
    visit.page.click("text=Request more")
    visit.page.fill("#amount", "0.5")
    visit.page.fill("#reason", "The second survey of autumn")
    visit.page.click("form.request button")
    visit.share("rita", "Visits by clinic and finding")
    for sql, name in ((OWNED, "Visits by clinic"), (MONTHS, "Visits by month")):
        visit.save(sql, "0.2", name)
    visit.propose("A year of the clinics", "year", "2026", "Who came, where and when.")
    visit.sign_in(keys["carla"])
    visit.page.goto(f"{visit.address}/keep")
    visit.page.click("text=Approve and publish")
    visit.page.wait_for_url(re.compile("/reports/"), timeout=60_000)
    visit.sign_in(keys["ana"])
    visit.propose("A second year of the clinics", "year", "2027", "Who came, where and when.")
    visit.sign_in(keys["ben"])
    visit.ask(SINGLE, "0.2")


def take(visit: Visit, keys: dict[str, str]) -> None:
    """Take a picture of every page."""
    visit.shoot("home", "/")
    visit.shoot("plan", "/plan")
    visit.shoot("sign-in", "/sign-in")
    visit.shoot("nothing", "/nothing")
    visit.sign_in(keys["ana"])
    visit.shoot("ask", "/ask")
    visit.shoot("question", shown(SINGLE, "0.1"))
    visit.shoot("question-means", shown(MEANS, "0.1"))
    visit.shoot("question-owned", shown(OWNED, "0.1"))
    visit.shoot("question-refused", shown("SELECT age FROM visits", "0.1"))
    visit.shoot("answers", "/answers")
    links = [one.get_attribute("href") for one in visit.page.query_selector_all("main td a")]
    links = [link for link in links if link and "/report-" not in link]  # which the page of the report shows
    for name, link in zip(("answer", "answer-quantiles", "answer-days", "answer-means"), links, strict=False):
        visit.shoot(name, link)
    visit.sign_in(keys["rita"])
    visit.shoot("reports", "/reports")
    links = [one.get_attribute("href") for one in visit.page.query_selector_all("main li a")]
    for name, start in (("report", "/reports/"), ("shared", "/shared/")):
        visit.shoot(name, next(link for link in links if link and link.startswith(start)))
    visit.sign_in(keys["carla"])
    visit.shoot("keep", "/keep")
    visit.shoot("keep-one", "/keep/visits")
    visit.shoot("keep-keys", "/keep/keys")
    visit.shoot("keep-check", "/keep/visits/check")
    try_contract(visit)
    visit.sign_in(keys["dora"])
    visit.shoot("verify", "/verify")
    visit.shoot("verify-entries", "/verify/entries")
    visit.shoot("verify-entry", "/verify/entries/3")
    visit.shoot("statement", "/verify/statement")


def check(visit: Visit, contract: str) -> None:
    """Check the text of a contract."""
    visit.page.fill("#text", contract)
    visit.page.click("text=Check the contract")
    visit.page.wait_for_selector("#result h2")


def try_contract(visit: Visit) -> None:
    """Take pictures of a contract that is tried: what it would do, its faults, and a fresh draft."""
    visit.page.goto(f"{visit.address}/keep/visits/contract")
    served = visit.page.input_value("#text")
    tried = served.replace("max_rows_per_unit = 4 ", "max_rows_per_unit = 3 ").replace("[0, 110]", "[18, 90]")
    faulty = tried.replace("[18, 90]", "[90, 18]").replace('"visits.parquet"', '"others.parquet"')
    check(visit, tried)
    visit.shoot("keep-contract", start="#limits")
    check(visit, faulty)
    visit.shoot("keep-contract-faults")
    visit.shoot("keep-contract-draft", "/keep/visits/contract?draft=true")


def main(folder: Path, *, dark: bool) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with served() as (address, keys), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        happen(Visit(browser, address, 1280, folder, dark=False), keys)
        for width in WIDTHS:
            take(Visit(browser, address, width, folder, dark=dark), keys)
        browser.close()


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "--dark"]
    main(Path(given[0]) if given else Path(__file__).parent, dark="--dark" in sys.argv)
