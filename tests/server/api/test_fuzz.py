"""Whatever is sent to any route, by anybody, is answered as the document of the interface says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.helpers.served_hospital import BY_CLINIC, COUNT, Served
from tests.server.people.test_authorisation import MATRIX

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

QUERIED = ("GET /v1/answers", "GET /v1/ledger/entries", "GET /v1/ledger/verification")
ROUTES = sorted({entry.route for entry in MATRIX if "openapi" not in entry.route})

WITH_INPUT = [route for route in ROUTES if "{" in route or route.startswith("POST") or route in QUERIED]

QUESTIONS = st.sampled_from([
    COUNT,
    BY_CLINIC,
    "SELECT COUNT(*) FROM visits WHERE age > 50",
    "SELECT clinic, SUM(age) FROM visits GROUP BY clinic",
    "SELECT MEDIAN(age) FROM visits",
    "SELECT COUNT(DISTINCT patient) FROM visits",
])  # fmt: skip

AMOUNTS = st.sampled_from(["0.5", 0.25, 1, "1e-3", "0.125", "1000"])
MEANT = st.fixed_dictionaries({
    "sql": QUESTIONS,
    "epsilon": AMOUNTS,
    "pooling": st.sampled_from([None, "0.5"]),
    "weights": st.sampled_from([None, ["1"], ["1", "2"]]),
    "confidence": st.sampled_from([0.5, 0.95]),
    "amount": AMOUNTS,
    "analyst": st.sampled_from([None, "ana", "eve"]),
    "person": st.sampled_from(["ana", "ben", "fay"]),
})  # fmt: skip
"""What somebody would send: most of what is made at random is refused, and so never gets far."""

PEOPLE = ("nobody", "ana", "carla", "dora")

EXAMPLES = 5


@pytest.fixture(scope="module")
def document(hospital: Served) -> Any:
    """Return the document of the interface, read as a client does."""
    return schemathesis.openapi.from_dict(hospital.nobody.get("/v1/openapi.json").json())


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("route", ROUTES)
def test_every_response_is_as_documented(hospital: Served, document: Any, route: str, person: str) -> None:
    """Requests as the document has them are answered by a status, a type and a body that it has, and never by 500."""

    @fuzzed(document, route, GenerationMode.POSITIVE)
    def each(case: Any, meant: dict[str, Any] | None) -> None:
        if meant is not None and "name" in case.path_parameters:
            case.path_parameters["name"] = "visits"
        if meant is not None and isinstance(case.body, dict):
            case.body.update({name: meant[name] for name in meant.keys() & case.body.keys()})
        case.validate_response(sent(hospital, case, person), checks=CHECKS)

    each()


@pytest.mark.slow
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("route", WITH_INPUT)
def test_what_is_not_as_documented_is_refused(hospital: Served, document: Any, route: str, person: str) -> None:
    """Requests that the document does not have are refused as it says, and never by 500."""

    @fuzzed(document, route, GenerationMode.NEGATIVE)
    def each(case: Any, meant: dict[str, Any] | None) -> None:
        assert meant is None or "sql" in meant
        wrong = [negative_data_rejection] if case.method == "POST" else []  # a query may have more than is read
        case.validate_response(sent(hospital, case, person), checks=[*CHECKS, *wrong])

    each()


def fuzzed(document: Any, route: str, mode: GenerationMode) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Return what runs a test with some requests to a route, always the same ones."""
    method, path = route.split(" ")
    often = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    cases = document[path][method].as_strategy(generation_mode=mode)
    return lambda test: seed(15)(often(given(cases, st.none() | MEANT)(test)))


def sent(hospital: Served, case: Any, person: str) -> httpx2.Response:
    """Send a request."""
    who = hospital.nobody if person == "nobody" else hospital.person(person)
    kwargs = case.as_transport_kwargs(base_url="http://127.0.0.1", headers=dict(who.headers))
    kwargs.pop("cookies", None)
    if isinstance(kwargs.get("data"), bytes | str):
        kwargs["content"] = kwargs.pop("data")
    return who.request(kwargs.pop("method"), kwargs.pop("url"), **kwargs)
