"""Ask: the datasets that are one's own to ask, and for each a box for questions that says beforehand what they cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.bounds.notation import write_end
from inbounds.code.notebook import KIND as NOTEBOOK
from inbounds.code.notebook import write_notebook
from inbounds.code.place import OnServer
from inbounds.code.question_code import WrittenQuestion, write_code
from inbounds.errors import InboundsError
from inbounds.exact.amount import units
from inbounds.exact.decimals import BLANKS
from inbounds.query.ask.options import settle_cost
from inbounds.query.ask.privacy_options import WORD, cut_options, drop_options
from inbounds.query.methods.plan import Plan
from inbounds.results.answer_json import read_answer
from inbounds.server.basics.person import Action
from inbounds.server.basics.problem import Problem, to_problem
from inbounds.server.pages.page import redirect, render_fragment, render_page, svg_response
from inbounds.server.pages.parts.answer_files import file_response
from inbounds.server.pages.parts.answer_table import describe_answer
from inbounds.server.pages.parts.question_examples import examples
from inbounds.server.pages.parts.question_form import Choices, to_sql
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.pictures.noise_picture import is_law, noise_height, noise_picture
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.answer_list import NEW_TOKEN
from inbounds.server.service.answer_shape import Question
from inbounds.server.service.asking import answer_question, key_of
from inbounds.server.service.budgets import budget_of
from inbounds.server.service.dataset_shape import Name, describe_dataset
from inbounds.server.service.door import Serving
from inbounds.server.service.explaining import LONGEST_SQL, Asking, Explaining, Owned, explain_question, to_query
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import PublicId
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import derive_answer
from inbounds.server.state.open_datasets import Holding

router = APIRouter(include_in_schema=False)

Analyst = Annotated[Visitor, require_visitor(Action.ASK)]
Sql = Annotated[str, Query(max_length=LONGEST_SQL)]
Epsilon = Annotated[str, Query(max_length=40)]

LONGEST_NAME = 100
"""Of a saved question, in characters."""

EPSILON = "0.5"
"""What a question costs, unless the analyst says otherwise, or one may not cost so much."""


class Price(NamedTuple):
    """What was typed of ε, or of a wanted error in its place."""

    epsilon: str
    error: str
    rows: str


def _typed_price(
    sql: Sql = "",
    epsilon: Epsilon | None = None,
    error: Annotated[str, Query(max_length=40)] = "",
    rows: Annotated[str, Query(max_length=20)] = "",
) -> Price:
    first = "" if WORD in sql.upper() else EPSILON  # which may stand in the SQL
    return Price(first if epsilon is None else epsilon, error.strip(BLANKS), rows.strip(BLANKS))


TypedPrice = Annotated[Price, Depends(_typed_price)]


@router.get("/ask")
async def ask_page(request: Request, service: Serving, visitor: Analyst) -> Response:
    """List the datasets."""
    return render_page(request, "ask", visitor, datasets=await run_in_threadpool(_datasets, service, visitor))


def _datasets(service: Service, visitor: Visitor) -> list[dict[str, Any]]:
    person = visitor.person
    return [
        {
            "dataset": describe_dataset(service.holdings.holding(name, person)),
            "budget": budget_of(service, name, person, person.name),
        }
        for name in person.datasets
    ]


@router.get("/ask/{name}")
async def ask_one_page(
    request: Request,
    name: Name,
    service: Serving,
    visitor: Analyst,
    price: TypedPrice,
    sql: Sql = "",
) -> Response:
    """Show the box for questions; with a question in the address, what it would do.

    A question that was put together in the form takes the place of the one that was written.
    """
    choices = Choices.of(request.query_params)
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    if "epsilon" not in request.query_params:
        price = price._replace(epsilon=_first_epsilon(holding))
    text = to_sql(holding.dataset.tables, choices) if choices.is_wanted else sql
    facts = await run_planning(request, visitor.person, _explain, service, visitor, name, text, price)
    budget = await run_in_threadpool(budget_of, service, name, visitor.person, visitor.person.name)
    facts["examples"] = examples(holding.dataset.tables)
    dataset = describe_dataset(holding)
    facts["saved"] = await run_in_threadpool(service.saved.find_all, visitor.person.name, name)
    names = [name for table in dataset.tables for name in (table.name, *(column.name for column in table.columns))]
    return render_page(
        request, "ask_one", visitor, dataset=dataset, names=names, budget=budget, choices=choices, **facts
    )


@router.get("/ask/{name}/explanation")
async def explanation(
    request: Request,
    name: Name,
    service: Serving,
    visitor: Analyst,
    price: TypedPrice,
    sql: Sql = "",
) -> Response:
    """Return the explanation of a question by itself, for whoever is still typing."""
    facts = await run_planning(request, visitor.person, _explain, service, visitor, name, sql, price)
    return render_fragment("explanation", **facts)


@router.get("/ask/{name}/noise.svg")
async def noise(
    request: Request,
    name: Name,
    service: Serving,
    visitor: Analyst,
    look: Looks,
    sql: Sql = "",
    epsilon: Epsilon = EPSILON,
) -> Response:
    """Draw how far off the answer will be."""
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    plans = await run_planning(request, visitor.person, _plans, holding, _read_question(Asking, sql, epsilon))
    if not plans:
        raise Problem("not-found", "this answer is public and exact, so there is no noise to draw; show it for free")
    return svg_response(await run_in_threadpool(noise_picture, plans, look))


def _plans(holding: Holding, asking: Asking) -> Sequence[Plan]:
    plans: Sequence[Plan] = to_query(holding, asking).plans(asking.epsilon)
    return plans


@router.get("/ask/{name}/query.ipynb")
async def notebook(
    request: Request,
    name: Name,
    service: Serving,
    visitor: Analyst,
    sql: Sql = "",
    epsilon: Epsilon = EPSILON,
    key: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """Return a question as a notebook; it asks under the name that the form has, so that both together pay once."""
    explaining = Explaining(**_read_question(Asking, sql, epsilon).model_dump())
    explanation = await run_planning(
        request, visitor.person, explain_question, service, name, explaining, visitor.person
    )
    place = OnServer(service.file.home, name)
    known = epsilon.strip(BLANKS) or explanation.epsilon
    question = WrittenQuestion(place, drop_options(explaining.sql), known, _read_key(key))
    return file_response(write_notebook(question, explanation.epsilon).encode(), NOTEBOOK, "query.ipynb")


@router.get("/ask/{name}/owned")
async def owned(
    request: Request, name: Name, service: Serving, visitor: Analyst, sql: Sql = "", epsilon: Epsilon = EPSILON
) -> Response:
    """Show the answer that follows from one that the analyst owns: it costs nothing."""
    asking, person = _read_question(Asking, sql, epsilon), visitor.person
    answer = await run_planning(request, person, derive_answer, service, name, Owned(sql=asking.sql), person)
    source = key_of(person, answer.request_id)
    return render_page(request, "ask_owned", visitor, name=name, sql=sql, source=source, **describe_answer(answer))


@router.post("/ask/{name}")
async def ask(request: Request, name: Name, visitor: Analyst, form: Form) -> Response:
    """Ask, and go to the answer."""
    refuse_forged(request, visitor, form)
    options = {option: form.get(option) == "yes" for option in ("alone", "force")}
    question = _read_question(Question, form.get("sql", ""), form.get("epsilon", ""), **options)
    answer = await answer_question(request, visitor.person, name, question, _read_key(form.get("key", "")))
    if answer.epsilon == "0":  # all of it is public, and not kept
        return redirect(f"/ask/{quote(name, safe='')}/owned?sql={quote(question.sql, safe='')}")
    return redirect(f"/answers/{answer.id}")


@router.post("/ask/{name}/practice")
async def practise(request: Request, name: Name, visitor: Analyst, form: Form) -> Response:
    """Ask made-up rows, and show the answer; it is free and not kept, and marked as what it is."""
    refuse_forged(request, visitor, form)
    question = _read_question(Question, form.get("sql", ""), form.get("epsilon", ""), practise=True, force=True)
    sent = await answer_question(request, visitor.person, name, question, uuid4().hex)
    facts = await run_in_threadpool(lambda: describe_answer(read_answer(sent.model_dump(mode="json"))))
    facts |= {"sql": question.sql, "epsilon": form.get("epsilon", "")}
    return render_page(request, "ask_practice", visitor, name=name, **facts)


@router.post("/ask/{name}/requests")
async def request_more(request: Request, name: Name, service: Serving, visitor: Analyst, form: Form) -> Response:
    """Ask the custodian for more budget, with a reason."""
    refuse_forged(request, visitor, form)
    await run_in_threadpool(service.holdings.holding, name, visitor.person)
    amount, reason = form.get("amount", "").strip(BLANKS), form.get("reason", "").strip()
    units(amount, "the amount")
    if not reason or len(reason) > 1000:
        raise Problem("invalid-parameter", "a request needs a reason of up to 1,000 characters; go back and enter one")
    if not await run_in_threadpool(service.budget_requests.add, visitor.person.name, name, amount, reason):
        raise Problem("too-many", "too many of your requests are pending; wait for a decision")
    return redirect("/answers#requests")


@router.post("/ask/{name}/saved")
async def save(request: Request, name: Name, service: Serving, visitor: Analyst, form: Form) -> Response:
    """Save a question under a name, in place of one that had it."""
    refuse_forged(request, visitor, form)
    await run_in_threadpool(service.holdings.holding, name, visitor.person)
    called, sql, epsilon = (form.get(field, "").strip() for field in ("name", "sql", "epsilon"))
    _read_question(Asking, sql, epsilon)
    if (stated := cut_options(sql)[1].epsilon) is not None:
        sql, epsilon = drop_options(sql), write_end(settle_cost(epsilon or None, stated))
    if not called or len(called) > LONGEST_NAME:
        raise Problem("invalid-parameter", f"a saved query needs a name of up to {LONGEST_NAME} characters; go back")
    if not await run_in_threadpool(service.saved.keep, visitor.person.name, name, called, sql, epsilon):
        raise Problem("too-many", "you have too many saved queries; remove one first")
    return redirect(f"/ask/{quote(name, safe='')}?sql={quote(sql, safe='')}&epsilon={quote(epsilon, safe='')}#saved")


@router.post("/ask/{name}/saved/{question}/remove")
async def remove(
    request: Request, name: Name, question: PublicId, service: Serving, visitor: Analyst, form: Form
) -> Response:
    """Remove a saved question."""
    refuse_forged(request, visitor, form)
    await run_in_threadpool(service.holdings.holding, name, visitor.person)
    if not await run_in_threadpool(service.saved.remove, visitor.person.name, question):
        raise Problem("not-found", "you have no saved query of this id; go back and reload the page")
    return redirect(f"/ask/{quote(name, safe='')}#saved")


def _first_epsilon(holding: Holding) -> str:
    """Return what the form begins with."""
    limit = holding.dataset.price_limit
    return EPSILON if limit is None else write_end(min(Fraction(EPSILON), limit.most))


def _explain(service: Service, visitor: Visitor, name: str, sql: str, price: Price) -> dict[str, Any]:
    """Return what the template of an explanation needs: what a question would do, or why it cannot be asked."""
    facts: dict[str, Any] = {
        "explanation": None,
        "problem": None,
        "name": name,
        "sql": sql,
        "epsilon": price.epsilon,
        "error": price.error,
        "rows": price.rows,
        "key": uuid4().hex,
        "token": visitor.session.token,
        "code": None,
    }
    if not sql.strip():
        return facts
    try:
        explaining = _read_price(sql, price)
        explanation = explain_question(service, name, explaining, visitor.person)
        epsilon = explanation.epsilon if price.error else price.epsilon
        asking = _read_question(Asking, sql, epsilon)
        known = epsilon.strip() or explanation.epsilon
        plans = _plans(service.holdings.holding(name, visitor.person), asking)
        height = noise_height(plans) if plans else None
        code = write_code(WrittenQuestion(OnServer(service.file.home, name), drop_options(asking.sql), known))
        found = {"explanation": explanation, "height": height, "is_law": is_law(plans), "code": code}
        return facts | {"epsilon": epsilon} | found
    except Problem as problem:
        return facts | {"problem": problem}
    except InboundsError as error:
        return facts | {"problem": to_problem(error)}


def _read_key(sent: str) -> str:
    """Return the name of a request: the form's, so that sending it twice pays once; as strict as for programs."""
    if sent and re.fullmatch(NEW_TOKEN, sent) is None:
        raise Problem("invalid-parameter", "this form was altered; go back, reload the page and send it again")
    return sent or uuid4().hex


def _read_price(sql: str, price: Price) -> Explaining:
    """Return a query to preview; a wanted error takes the place of ε."""
    if not price.error:
        return Explaining(**_read_question(Asking, sql, price.epsilon).model_dump())
    try:
        return Explaining.model_validate({"sql": sql, "error": price.error, "rows": price.rows or None})
    except ValidationError:
        raise Problem(
            "invalid-parameter", "the rows assumed in each group must be a whole number, such as 1000; correct it"
        ) from None


def _read_question(kind: Any, sql: str, epsilon: str, **more: Any) -> Any:
    try:
        return kind(sql=sql, epsilon=epsilon if epsilon.strip() else None, **more)
    except ValidationError:
        raise Problem("invalid-parameter", "a query needs SQL and an ε, a number such as 0.5; enter both") from None
