"""An assistant asks: in one person's name, charged once, within caps, and with words where it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, get_args

import anyio
import pytest

from tests.client.conftest import Clinic
from tests.helpers.assistants import MODES, Assistant, Way, over_http, over_stdio
from tests.helpers.served_hospital import free_port, wait_for

pytestmark = pytest.mark.slow

COUNT = "SELECT COUNT(*) FROM visits"
BY_CLINIC = "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic"
WAYS = [(way, mode) for way in get_args(Way) for mode in MODES]


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def ana(request: pytest.FixtureRequest, clinic: Clinic) -> Iterator[Assistant]:
    """An assistant of an analyst, by every way and in every version of the protocol."""
    way, mode = request.param
    key, url, caps = clinic.served.keys["ana"], clinic.running.url, ("--max-epsilon", "2")
    with ExitStack() as stack:
        if way == "stdio":
            yield stack.enter_context(over_stdio(url, key, *caps, mode=mode))
        else:
            gateway = stack.enter_context(over_http(url, *caps))
            yield stack.enter_context(gateway.connect(key, mode))


def spent(clinic: Clinic, who: str = "ana") -> tuple[int, str]:
    """Return how many questions somebody was charged for, and how much."""
    with clinic.connect(who) as connection:
        facts = connection.dataset("visits").budget()
    return facts["asked"], facts["own"]["spent"]


def test_what_is_free_charges_nothing(ana: Assistant, clinic: Clinic) -> None:
    """Looking, previewing and practising spend nothing, and say what there is and what it would cost."""
    before = spent(clinic)
    assert ana.call("datasets").fields == {"datasets": [{"name": "visits", "tables": ["visits"]}]}
    described = ana.call("describe", dataset="visits")
    assert described.fields["tables"][0]["columns"][0]["name"] == "age"
    assert '"clinic": categories; "north", "south", "east", "west"' in described.text
    budget = ana.call("budget", dataset="visits").fields
    assert (budget["queries_charged"], budget["own"]["spent"]) == before
    assert budget["most_per_question"] == "2"
    preview = ana.call("explain", dataset="visits", sql=BY_CLINIC, epsilon=0.3)
    assert (preview.fields["epsilon"], preview.fields["fits"]) == ("0.3", True)
    assert "nothing was charged" in preview.text
    wanted = ana.call("explain", dataset="visits", sql="SELECT COUNT(*) FROM visits", error="20").fields
    assert 0 < float(wanted["epsilon"]) < 1
    practised = ana.call("practise", dataset="visits", sql=BY_CLINIC, epsilon=0.3)
    assert practised.fields["practice"]
    assert practised.text.startswith("PRACTICE DATA")
    assert practised.fields["charged_now"] == "0"
    assert spent(clinic) == before


def test_a_question_is_charged_once(ana: Assistant, clinic: Clinic, request: pytest.FixtureRequest) -> None:
    """Asked again at the same epsilon a question is free, however much of it is shown; another edition is charged."""
    edition = request.node.callspec.id  # each way asks anew
    asked, _ = spent(clinic)
    first = ana.ask(BY_CLINIC, 0.3, edition=edition)
    assert (first.fields["charged_now"], first.refused) == ("0.3", False)
    again = ana.ask(BY_CLINIC, 0.3, edition=edition)
    assert again.fields == {**first.fields, "charged_now": "0"}
    assert "paid before" in again.text
    part = ana.ask(f"{BY_CLINIC} ORDER BY 2 DESC LIMIT 2", 0.3, edition=edition).fields
    assert part["request_id"] == first.fields["request_id"]
    assert all(row in first.fields["rows"] for row in part["rows"])
    assert len(part["rows"]) == 2
    assert spent(clinic)[0] == asked + 1
    assert ana.ask(BY_CLINIC, 0.3, edition=f"{edition}-2").fields["charged_now"] == "0.3"
    assert ana.ask(BY_CLINIC, 0.4, edition=edition).fields["charged_now"] == "0.4"
    assert spent(clinic)[0] == asked + 3


def test_every_number_stands_beside_its_interval(ana: Assistant, clinic: Clinic) -> None:
    """What a model reads is what the ledger has: in fields and in text, with interval, error and caveats."""
    said = ana.ask(BY_CLINIC, 1)
    with clinic.connect() as connection:
        kept = connection.dataset("visits").answer(said.fields["request_id"])
    for at, row in enumerate(said.fields["rows"]):
        assert row[0]["value"] == kept.rows[at][0]
        for i, cell in enumerate(row[1:]):
            assert (cell["low"], cell["high"]) == kept.intervals[at][i]
            assert cell["value"] == (kept.rows[at][i + 1] if kept.learnt[at][i] else None)
            assert cell["expected_error"] == (kept.noise[at][i] if kept.learnt[at][i] else None)
    assert [column["interval"] for column in said.fields["columns"]] == [None, *kept.interval_names]
    lines = said.text.splitlines()
    assert lines[0].startswith("| clinic | count | 95 % interval (noise only) | expected error | mean_age |")
    low, high = kept.intervals[0][0] or ("", "")
    assert f"| north | {kept.rows[0][1]} | {low} to {high} |" in lines[2]
    assert str(kept.caveat) in said.text
    assert "not as exact figures" in said.text


def test_what_is_public_is_free(ana: Assistant, clinic: Clinic) -> None:
    """Public knowledge is exact, and neither charged nor counted."""
    before = spent(clinic)
    said = ana.ask("SELECT DISTINCT clinic FROM visits", 1)
    assert (said.fields["epsilon"], said.fields["charged_now"]) == ("0", "0")
    assert [row[0]["value"] for row in said.fields["rows"]] == ["north", "south", "east", "west"]
    assert "public knowledge is free" in said.text
    assert spent(clinic) == before


def test_what_follows_from_answers_is_free(ana: Assistant, clinic: Clinic) -> None:
    """With an epsilon of 0 there is what follows from earlier answers, and else a refusal that says so."""
    ana.ask("SELECT clinic, finding, COUNT(*) FROM visits GROUP BY clinic, finding", 0.5)
    before = spent(clinic)
    said = ana.ask("SELECT finding, COUNT(*) FROM visits GROUP BY finding", 0)
    assert not said.refused
    assert said.fields["charged_now"] == "0"
    refused = ana.ask("SELECT MEDIAN(minutes) FROM visits WHERE age < 50", 0)
    assert refused.refused
    assert "ask with an epsilon above 0" in refused.text
    assert spent(clinic) == before


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("ask", {"dataset": "visits", "sql": BY_CLINIC, "epsilon": 2.5}, "at most epsilon 2 here, got 2.5"),
        ("ask", {"dataset": "visits", "sql": "SELECT * FROM visits", "epsilon": 1}, "SELECT"),
        ("ask", {"dataset": "visits", "sql": "SELECT COUNT(*) FROM visit", "epsilon": 1}, "did you mean visits?"),
        (
            "ask",
            {"dataset": "visits", "sql": f"{COUNT} WHERE age > 200", "epsilon": 1},
            "no row can",
        ),
        ("ask", {"dataset": "births", "sql": "SELECT COUNT(*) FROM births", "epsilon": 1}, "no dataset has this name"),
        ("ask", {"dataset": "../me", "sql": BY_CLINIC, "epsilon": 1}, "nothing exists at this address"),
        ("ask", {"dataset": "..", "sql": BY_CLINIC, "epsilon": 1}, "dataset: value error, no dataset has this name"),
        ("budget", {"dataset": "."}, "dataset: value error, no dataset has this name"),
        ("ask", {"dataset": "visits", "sql": BY_CLINIC}, "epsilon: field required"),
        ("ask", {"dataset": "visits", "sql": BY_CLINIC, "epsilon": -1}, "greater than or equal to 0"),
        ("ask", {"dataset": "visits", "sql": BY_CLINIC, "epsilon": 1e-13}, "at most 12 decimals"),
        ("ask", {"dataset": "visits", "sql": BY_CLINIC, "epsilon": 1, "force": True}, "force: extra inputs"),
        ("ask", {"dataset": "visits", "sql": BY_CLINIC, "epsilon": 1, "edition": "x" * 101}, "edition"),
        ("explain", {"dataset": "visits", "sql": BY_CLINIC}, "give epsilon or error, and not both"),
        ("read_report", {"report": "0" * 32}, "no report"),
        ("read_report", {"report": "../me"}, "report: string should match"),
        ("sak", {}, "did you mean ask?"),
    ],
)
def test_a_refusal_reaches_the_model_in_words(
    ana: Assistant, clinic: Clinic, tool: str, arguments: dict[str, Any], words: str
) -> None:
    """Whatever is refused is refused with the reason and a remedy, and charges nothing."""
    before = spent(clinic)
    said = ana.call(tool, **arguments)
    assert said.refused
    assert words in said.text
    assert "unexpected" not in said.text
    assert spent(clinic) == before


def test_a_preview_says_what_would_be_refused(ana: Assistant) -> None:
    """What the caps of this program would refuse, the free preview says, with the remedy."""
    preview = ana.call("explain", dataset="visits", sql=BY_CLINIC, epsilon=3).fields
    assert "at most epsilon 2 here, got 3" in preview["refused_here"]
    assert ana.call("explain", dataset="visits", sql=BY_CLINIC, epsilon=2).fields["refused_here"] is None


def test_asking_the_same_at_once_is_charged_once(
    ana: Assistant, clinic: Clinic, request: pytest.FixtureRequest
) -> None:
    """Of several calls of the same at the same time one is charged, and all of them have its answer."""
    edition, (asked, _) = request.node.callspec.id, spent(clinic)
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(ana.ask, "SELECT AVG(age) FROM visits", 0.2, edition=edition) for _ in "1234"]
        said = [call.result() for call in calls]
    assert not any(one.refused for one in said), [one.text for one in said]
    assert len({str(one.fields["rows"]) for one in said}) == 1
    assert spent(clinic)[0] == asked + 1


def test_a_call_that_is_cancelled_is_charged_at_most_once(
    ana: Assistant, clinic: Clinic, request: pytest.FixtureRequest
) -> None:
    """Whoever cancels a call has paid for it, gets its answer for free by asking again, and nothing hangs."""
    sql, edition = "SELECT SUM(minutes) FROM visits", request.node.callspec.id
    asked, _ = spent(clinic)

    async def cancel() -> bool:
        with anyio.move_on_after(0.02) as scope:
            await ana.client.call_tool("ask", {"dataset": "visits", "sql": sql, "epsilon": 0.2, "edition": edition})
        return scope.cancelled_caught

    assert ana.portal.call(cancel)
    said = ana.ask(sql, 0.2, edition=edition)
    assert not said.refused
    wait_for(lambda: spent(clinic)[0] == asked + 1)
    assert ana.ask(sql, 0.2, edition=edition).fields["rows"] == said.fields["rows"]
    assert spent(clinic)[0] == asked + 1


def test_a_budget_that_is_used_up_is_told(clinic: Clinic) -> None:
    """Where the budget is not enough, the model is told how much is left, and nothing is charged."""
    before = spent(clinic, "ben")
    with over_stdio(clinic.running.url, clinic.served.keys["ben"], "--max-epsilon", "1000") as ben:
        said = ben.ask(BY_CLINIC, 999)
    assert said.refused
    assert "200" in said.text
    assert spent(clinic, "ben") == before


def test_a_session_has_its_cap(clinic: Clinic) -> None:
    """Together the questions of a session cost no more than it may; those repeated or refused cost nothing."""
    caps = ("--max-epsilon", "0.5", "--max-session-epsilon", "0.8")
    with over_stdio(clinic.running.url, clinic.served.keys["ben"], *caps) as ben:
        assert ben.ask("SELECT COUNT(*) FROM visit", 0.5).refused
        assert ben.ask("SELECT COUNT(*) FROM visits", 0.5).fields["charged_now"] == "0.5"
        said = ben.ask("SELECT AVG(age) FROM visits", 0.5)
        assert "0.5 of it is spent, and this costs 0.5; ask with epsilon 0.3 or less" in said.text
        assert said.refused
        assert ben.ask("SELECT COUNT(*) FROM visits", 0.5).fields["charged_now"] == "0"
        assert ben.call("budget", dataset="visits").fields["session_left"] == "0.3"
        assert not ben.ask("SELECT AVG(age) FROM visits", 0.3).refused
        assert "all of it is spent" in ben.ask("SELECT AVG(age) FROM visits", 0.1).text


def test_a_wrong_key_opens_nothing(clinic: Clinic) -> None:
    """With a key that is nobody's every tool is refused in words, and none of them holds the key."""
    with over_stdio(clinic.running.url, "inb_0123456789ab_" + "k" * 43) as nobody:
        for tool in ("datasets", "reports"):
            said = nobody.call(tool)
            assert said.refused
            assert "send a valid API key" in said.text
            assert "kkkk" not in said.text


def test_a_role_is_what_it_is(clinic: Clinic) -> None:
    """A reader's assistant reads reports, and is told that it may not ask."""
    with over_stdio(clinic.running.url, clinic.served.keys["rita"]) as rita:
        assert not rita.call("reports").refused
        said = rita.ask(BY_CLINIC, 0.1)
        assert said.refused
        assert "reader" in said.text


def test_a_server_that_is_away_is_told(clinic: Clinic) -> None:
    """Where no server is, the model is told; what a cap refuses is refused without one."""
    with over_stdio(f"http://127.0.0.1:{free_port()}", clinic.served.keys["ana"], "--max-epsilon", "1") as ana:
        said = ana.call("datasets")
        assert said.refused
        assert "the server cannot be reached" in said.text
