"""Pages in a browser on this machine: how soon something is seen, and how soon a question is explained while typing."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from tests.helpers.browser import Looker, launched, looking
from tests.helpers.programs import ROOT
from tests.helpers.served_hospital import Served, build, running

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_most, duration

FIRST_PAINT = 0.3
EXPLAINED = 0.25
PAUSE = 0.15
"""So long the script waits for another key before it asks for an explanation; it is no part of the figure."""

PAINTED = """new Promise((done) => {
  const look = () => {
    const [one] = performance.getEntriesByName("first-contentful-paint");
    if (one) done(one.startTime); else setTimeout(look, 5);
  };
  look();
})"""
QUESTION = "SELECT clinic, COUNT(*), AVG(age) FROM visits WHERE age >= {} GROUP BY clinic"
NEW_PLANS = 10
"""A visitor can have twelve a minute."""

PAGES = {
    "plan": (None, "/plan"),
    "ask": ("ana", "/ask/visits"),
    "answers": ("ana", "/answers"),
    "keep": ("carla", "/keep/visits"),
    "verify": ("dora", "/verify"),
}


def chromium() -> str:
    """Return the path of a browser."""
    return subprocess.run([ROOT / "scripts" / "chromium"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Open each page many times, and type a question letter by letter."""
    rounds = 5 if quick else 40
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        served = build(Path(folder) / "hospital")
        with launched(chromium()) as browser, running(served) as server, looking(browser, server) as who:
            new = [f"/plan?bounds=[0,{100 + at}]&sensitivity=2&epsilon=0.5" for at in range(min(rounds, NEW_PLANS))]
            figures = {"first paint, a new plan": [paint(who, path) for path in new]}
            figures |= {f"first paint, {name}": painted(served, who, name, rounds) for name in PAGES}
            who.sign_in(served.keys["ana"]).go("/ask/visits")
            figures["explained, on the wire"] = [wire(who, age) for age in range(rounds)]
            figures["explained, while typing"] = [typed(who, age) for age in range(rounds)]
    goals = {name: EXPLAINED if "explained" in name else FIRST_PAINT for name in figures}
    rows = [
        (name, duration(part(found, 0.5)), duration(part(found, 0.95)), at_most(goals[name], part(found, 0.95)))
        for name, found in figures.items()
    ]
    return Report(
        title="Pages in a browser",
        columns=("", "median", "p95", "target at p95"),
        rows=rows,
        notes=[
            f"{rounds} times each, in a browser and a server on this machine, which nobody else should use meanwhile. "
            f"While typing, the pause of {PAUSE:g} s after the last letter is left out; the picture comes later."
        ],
        measured={f"p95 seconds: {name}": part(found, 0.95) for name, found in figures.items()},
    )


def part(found: Sequence[float], share: float) -> float:
    """Return the value that a share of all is at most."""
    return sorted(found)[min(len(found) - 1, int(share * len(found)))]


def painted(served: Served, who: Looker, name: str, rounds: int) -> list[float]:
    """Return how soon something of one of the pages is seen, so many times."""
    person, path = PAGES[name]
    if person is not None:
        who.sign_in(served.keys[person])
    return [paint(who, path) for _ in range(rounds)]


def paint(who: Looker, path: str) -> float:
    """Return how soon something of a page is seen, in seconds after the browser was told to open it."""
    return float(who.go(path).page.evaluate(PAINTED)) / 1000


def timed(action: Callable[[], object]) -> float:
    """Return how long something takes, in seconds."""
    begun = perf_counter()
    action()
    return perf_counter() - begun


def wire(who: Looker, age: int) -> float:
    """Return how long the server takes to explain a question that is new to it."""
    asked = f"fetch('/ask/visits/explanation?epsilon=0.5&sql=' + encodeURIComponent({QUESTION.format(age + 50)!r}))"
    return timed(lambda: who.page.evaluate(f"{asked}.then((one) => one.text())"))


def typed(who: Looker, age: int) -> float:
    """Return how soon after the last letter, but for the pause, the explanation is on the page."""
    text = QUESTION.format(age)
    who.page.evaluate("document.getElementById('explanation').replaceChildren()")
    who.fill("Question, in SQL", text[:-1])

    def end() -> None:
        who.page.locator("#sql").press_sequentially(text[-1])
        who.page.locator("#explanation").get_by_text("It costs 0.5.").first.wait_for()

    return timed(end) - PAUSE
