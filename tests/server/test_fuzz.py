"""Whatever is sent to any route, by anybody, is answered as the document of the interface says."""

from __future__ import annotations

from functools import cache
from typing import Any

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

from tests.helpers.served import BY_CLINIC, COUNT, Served
from tests.server.test_authorisation import MATRIX

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

ROUTES = sorted({entry.route for entry in MATRIX if "openapi" not in entry.route})

QUESTIONS = st.sampled_from([
    COUNT,
    BY_CLINIC,
    "SELECT COUNT(*) FROM visits WHERE age > 50",
    "SELECT clinic, SUM(age) FROM visits GROUP BY clinic",
    "SELECT MEDIAN(age) FROM visits",
    "SELECT COUNT(DISTINCT patient) FROM visits",
])  # fmt: skip

EXAMPLES = 12


@cache
def document(served: Served) -> Any:
    """Return the document of the interface, read as a client does."""
    return schemathesis.openapi.from_dict(served.nobody.get("/v1/openapi.json").json())


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize("person", ["nobody", "ana", "carla", "dora"])
@pytest.mark.parametrize("route", ROUTES)
def test_every_response_is_as_documented(hospital: Served, route: str, person: str, mode: GenerationMode) -> None:
    """No request makes the server fail, and every response has a status, type and body that the document has."""
    method, path = route.split(" ")
    operation = document(hospital)[path][method]
    who = hospital.nobody if person == "nobody" else hospital.person(person)
    wrong = [negative_data_rejection] if mode is GenerationMode.NEGATIVE else []

    @seed(15)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), QUESTIONS, st.booleans())
    def each(case: Any, sql: str, sensible: bool) -> None:
        if sensible and mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and "sql" in case.body:
            case.body["sql"] = sql
        if sensible and "name" in case.path_parameters:
            case.path_parameters["name"] = "visits"
        given = case.as_transport_kwargs(base_url="http://127.0.0.1", headers=dict(who.headers))
        given.pop("cookies", None)
        url = given.pop("url")
        response = who.request(given.pop("method"), url, **given)
        case.validate_response(response, checks=[*CHECKS, *wrong])

    each()
