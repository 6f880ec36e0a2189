"""How what was typed is taken apart: negative numbers, misspelt names, and what a message may repeat."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from typer.core import TyperCommand, TyperGroup

from inbounds.errors import InvalidParameter

_NEGATIVE = re.compile(r"-(\.?\d|inf)", re.IGNORECASE)
"""What begins like this is a number, not an option."""

_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z-]*")
"""Only what looks like this is repeated in a message: anything else may be a true answer in the wrong place."""


class Command(TyperCommand):
    """A command whose arguments may be negative numbers, and which never repeats one of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments apart."""
        options = [param for param in self.params if param.param_type_name == "option"]
        valued = {name for option in options if not getattr(option, "is_flag", False) for name in option.opts}
        rest: list[str] = []
        numbers: list[str] = []
        if "--" not in args:
            for before, word in zip(["", *args], args, strict=False):
                (numbers if _NEGATIVE.match(word) and before not in valued else rest).append(word)
            args = [*rest, "--", *numbers] if numbers else args
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            most = sum(param.param_type_name == "argument" for param in self.params)
            takes = "no argument" if most == 0 else "one argument only"
            raise InvalidParameter(
                f"{_within(ctx)}there can be {takes} besides its options, got {most + len(left)}; "
                "put quotes around what belongs together"
            )
        return left


class Group(TyperGroup):
    """A group of commands that suggests the nearest one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed."""
        if args[0] in self.commands or args[0].startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise InvalidParameter(f"{_within(ctx)}no command{_repeated(args[0], list(self.commands))}")


def usage(problem: Exception) -> str:
    """Return what was wrong with the words of a command, in one line."""
    context: Any = getattr(problem, "ctx", None)
    option = getattr(problem, "option_name", None)
    message = " ".join(getattr(problem, "format_message", problem.__str__)().split()).rstrip(".")
    if context is not None and option is not None and message.startswith("No such option"):
        known = [name for param in context.command.params for name in param.opts if name.startswith("--")]
        return f"{_within(context)}no option{_repeated(option, known)}"
    if context is not None and message.startswith("Missing command"):
        return f"{_within(context)}a command is needed; there are {', '.join(context.command.commands)}"
    path = "inbounds" if context is None else context.command_path
    return f"{_within(context)}{message[:1].lower()}{message[1:]}; see {path} --help"


def _within(context: Any) -> str:
    """Return which command a message is about."""
    name = "" if context is None else context.command_path.removeprefix("inbounds").strip()
    return f"{name}: " if name else ""


def _repeated(word: str, known: list[str]) -> str:
    """Return a word that is not known, if it may be repeated, and what may have been meant."""
    everything = f"there are {', '.join(known)}"
    if not _NAME.fullmatch(word):
        return f" of that name; {everything}"
    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f" {word!r}; {f'did you mean {near[0]}?' if near else everything}"
