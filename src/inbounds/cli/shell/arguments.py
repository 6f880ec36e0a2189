"""How what was typed is taken apart: negative numbers, missing and misspelt names, and what a message may repeat."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from inbounds.cli.shell.suggestion import describe_unknown
from inbounds.errors import InvalidParameter

_NEGATIVE = re.compile(r"-(\.?\d|inf)", re.IGNORECASE)
"""What begins like this is a number, not an option."""

REWORDED = {"requires an argument": "needs a value after it", "does not take a value": "takes no value"}
"""What the parser says of an option, in our words."""

BY_ITSELF = {"--dataset": "CONTRACT", "--contract": "CONTRACT", "--sql": "SQL"}
"""What some commands take by itself, and others with an option."""

REMEDIES = {"release": "to release several answers, give - and pipe them into standard input, one per line"}
"""What to do about too many arguments, where it is not to put quotes around them."""


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
        try:
            left = super().parse_args(ctx, args)
        except typer.TyperException as problem:
            problem.ctx = ctx  # type: ignore[attr-defined]  # some are raised without, and do not say which command
            raise
        if left and not ctx.resilient_parsing:
            raise InvalidParameter(self._describe_excess(ctx, len(left)))
        return left

    def _describe_excess(self, ctx: Any, extra: int) -> str:
        most = sum(param.param_type_name == "argument" for param in self.params)
        if most == 0:
            return f"{_name_command(ctx)}this command takes options only, got {extra} more; leave that out"
        remedy = REMEDIES.get(str(self.name), "put quotes around text that contains spaces")
        words = "one argument" if most == 1 else f"{most} arguments"
        return f"{_name_command(ctx)}this command takes {words} besides its options, got {most + extra}; {remedy}"

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, without braces around what must be given."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what the arguments and the options mean; that everything is a text says nothing."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = [param for param in self.get_params(ctx) if param.param_type_name == kind]
            records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([(name.removesuffix(" <str>"), text) for name, text in records])


class CommandGroup(TyperGroup):
    """A group of commands that suggests the nearest one, and alone shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments apart."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed."""
        if args[0] in self.commands or args[0].startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise InvalidParameter(f"{_name_command(ctx)}{describe_unknown('command', args[0], self.list_commands(ctx))}")


def describe_usage(problem: Exception) -> str:
    """Return what was wrong with the words of a command, in one line."""
    context: Any = getattr(problem, "ctx", None)
    option = getattr(problem, "option_name", None)
    message = " ".join(getattr(problem, "format_message", problem.__str__)().split()).rstrip(".")
    text = f"{message[:1].lower()}{message[1:]}"
    if context is None:
        return f"{text}; see inbounds --help"
    if message.startswith("Missing"):
        text = _describe_missing(context)
    elif option is not None and message.startswith("No such option"):
        known = [name for param in context.command.params for name in param.opts if name.startswith("--")]
        arguments = {param.display_name_raw for param in context.command.params if param.param_type_name == "argument"}
        if (argument := BY_ITSELF.get(option)) in arguments:
            return f"{_name_command(context)}there is no option {option!r}; write the {argument} without one"
        return f"{_name_command(context)}{describe_unknown('option', option, known)}"
    elif option is not None:
        text = f"{option} {next((ours for theirs, ours in REWORDED.items() if theirs in message), message)}"
    return f"{_name_command(context)}{text}; see {context.command_path} --help"


def _describe_missing(context: Any) -> str:
    """Say all that must be given and was not: what was given is read before that is noticed."""
    names = [
        param.opts[0] if param.param_type_name == "option" else param.display_name_raw
        for param in context.command.params
        if param.required and param.name not in context.params
    ] or ["a command"]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{listed} {'is' if len(names) == 1 else 'are'} missing"


def _name_command(context: Any) -> str:
    """Return which command a message is about."""
    name = "" if context is None else context.command_path.removeprefix("inbounds").strip()
    return f"{name}: " if name else ""
