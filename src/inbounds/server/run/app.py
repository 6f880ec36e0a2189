"""The application: all routes, and how errors become problems."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from inbounds import __version__
from inbounds.display.suggestion import suggest
from inbounds.errors import InboundsError
from inbounds.server.api import answers, datasets, health, keys, ledger, reports, shared
from inbounds.server.basics.problem import MEDIA_TYPE, Problem, to_problem
from inbounds.server.pages.console import MENU, PAGES
from inbounds.server.pages.page import redirect
from inbounds.server.pages.refusal import is_for_people, refusal_page
from inbounds.server.pages.visitor import SignInFirst
from inbounds.server.run.middleware import Guard
from inbounds.server.service.door import admit
from inbounds.server.service.service import Service

DESCRIPTION = "Differentially private answers that never leave their publicly known bounds."

TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,  # whatever the environment says
    "exclude": lambda _: True,  # also from signals that a later version adds
}
"""FastAPI would hand addresses, which hold questions, and texts of exceptions to OpenTelemetry, where it is set up."""

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
"""What routes are for; a HEAD is answered as a GET."""

PROBLEM_SCHEMA = {
    "type": "object",
    "description": "An error, in the format of RFC 9457.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
    },
}


def application(service: Service) -> FastAPI:
    """Return the application that answers with what a service has open."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="inbounds",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # where to would be what the Host header says
        lifespan=lifespan,
        middleware=[Middleware(Guard, service=service, page=_to_page)],
        separate_input_output_schemas=False,
        telemetry=TELEMETRY,
    )
    app.state.service = service
    app.state.menu = MENU
    for noun in (health, datasets, answers, shared, reports, ledger, keys, *PAGES):
        app.include_router(noun.router)
    app.add_exception_handler(SignInFirst, _sign_in)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(InboundsError, _error)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _http)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


async def _to_page(scope: Scope, problem: Problem) -> Response | None:
    request = Request(scope)
    return await refusal_page(request, problem) if is_for_people(request) else None


async def _sign_in(_: Request, error: Any) -> Response:
    return redirect(error.address)


async def _respond(request: Request, problem: Problem) -> Response:
    service: Service = request.app.state.service
    service.metrics.problems.labels(problem.code).inc()
    page = await _to_page(request.scope, problem)
    return page or JSONResponse(problem.data(), problem.status, problem.headers, MEDIA_TYPE)


async def _problem(request: Request, problem: Any) -> Response:
    return await _respond(request, problem)


async def _error(request: Request, error: Any) -> Response:
    return await _respond(request, to_problem(error))


async def _unreadable(request: Request, error: Any) -> Response:
    """Say where a request is not as the document of the interface has it."""
    known = _known_fields(request)
    faults = [_describe_fault(fault, known) for fault in error.errors()[:5]]
    return await _tell_known(request, f"{'; '.join(faults)}; see /v1/openapi.json")


def _describe_fault(fault: Mapping[str, Any], known: Sequence[str]) -> str:
    """Say what is wrong with a field, and which was meant if it is not one."""
    field, words = ".".join(map(str, fault["loc"])), str(fault["msg"])
    if fault["type"] == "extra_forbidden" and known:
        return f"{field}: unknown field; {suggest(str(fault['loc'][-1]), known, 'known are')}"
    return f"{field}: {words.removeprefix('Value error, ')}"  # how pydantic introduces our own words


def _known_fields(request: Request) -> list[str]:
    """Return the fields of the body that a route takes."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(body, "field_info", None), "annotation", None)
    return list(getattr(model, "model_fields", {}))


async def _tell_known(request: Request, detail: str) -> Response:
    """Say what is wrong with a request to somebody who is known.

    A body that is no JSON is found out before the door is.
    """
    if not is_for_people(request) and "person" not in request.scope.get("state", {}):
        try:
            await run_in_threadpool(admit, request.app.state.service, request)
        except Problem as problem:
            return await _respond(request, problem)
    if is_for_people(request):
        return await _respond(request, Problem("invalid-request", "check the address, or go back and try again"))
    return await _respond(request, Problem("invalid-request", detail))


async def _http(request: Request, error: Any) -> Response:
    if error.status_code == 405:
        problem = Problem("method-not-allowed", "this address does not support this method; see /v1/openapi.json")
        problem.headers["Allow"] = ", ".join(_methods(request))
        return await _respond(request, problem)
    if error.status_code == 404:
        return await _respond(request, Problem("not-found", "nothing exists at this address; see /v1/openapi.json"))
    return await _tell_known(request, "the request body cannot be read; send what /v1/openapi.json describes")


def _methods(request: Request) -> list[str]:
    """Return what can be done at an address, by all routes that have it."""
    routes: list[BaseRoute] = request.app.routes
    methods = [
        method for method in METHODS if any(_is_for(route, {**request.scope, "method": method}) for route in routes)
    ]
    return sorted([*methods, *(["HEAD"] if "GET" in methods else [])])


def _is_for(route: BaseRoute, scope: Scope) -> bool:
    return route.matches(scope)[0] is Match.FULL


def _document(app: FastAPI) -> dict[str, Any]:
    """Return the document of the interface: as the routes have it, with our refusals in place of the usual ones."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document["components"]["schemas"]
        schemas["Problem"] = PROBLEM_SCHEMA
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                    del operation["responses"]["422"]
                if path.startswith("/v1") or path == "/metrics":
                    operation["security"] = [{"key": []}]
        app.openapi_schema = document
    return app.openapi_schema
