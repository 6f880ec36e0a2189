"""A tool: what a model can call, what it is told of it, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from inbounds.client import Connection
from inbounds.errors import InvalidParameter
from inbounds.gateways.allowance import Account


class Arguments(BaseModel):
    """What a tool is called with; what it does not know is refused rather than passed over."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Visit:
    """Somebody who asks: a connection with their key, and what they spent here."""

    connection: Connection
    account: Account


@dataclass(frozen=True)
class Reply:
    """What a tool gives back: the same for models that read text, and for programs that read fields."""

    text: str
    fields: BaseModel


@dataclass(frozen=True)
class Tool:
    """A tool.  Everything in it is fixed: nothing that a server says gets into what a model is told to do."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    fields: type[BaseModel]
    work: Callable[[Visit, Any], Reply]
    spends: bool = False
    """Whether it can spend budget, which is never given back."""

    def call(self, visit: Visit, arguments: Mapping[str, Any]) -> Reply:
        """Check the arguments, and do the work."""
        try:
            read = self.arguments.model_validate(arguments)
        except ValidationError as problem:
            raise InvalidParameter(f"{self.name}: {_describe(problem)}") from None
        return self.work(visit, read)


def _describe(problem: ValidationError) -> str:
    """Say what is wrong with arguments."""
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
        for fault in problem.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(faults) + "; see the tool's input schema"
