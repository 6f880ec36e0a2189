"""All commands together."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from inbounds import __version__
from inbounds.cli.commands import (
    budget,
    certify,
    check,
    demo,
    discover,
    explain,
    init,
    keys,
    plan,
    practise,
    publish,
    query,
    release,
    serve,
)
from inbounds.cli.commands.on_server import reports, share
from inbounds.cli.shell.arguments import Command, CommandGroup

ORDER = (
    "release",
    "plan",
    "certify",
    "init",
    "check",
    "discover",
    "practise",
    "query",
    "explain",
    "publish",
    "reports",
    "share",
    "budget",
    "keys",
    "serve",
    "demo",
)


class Commands(CommandGroup):
    """All of them, in the order of the help: about numbers, about tables."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names."""
        return list(ORDER)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 80, "help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 bad input, 3 budget refused, 4 not private, 130 interrupted.",
)

app.command("release", cls=Command)(release.command)
app.command("plan", cls=Command)(plan.command)
app.command("init", cls=Command)(init.command)
app.command("check", cls=Command)(check.command)
app.command("practise", cls=Command)(practise.command)
app.command("query", cls=Command)(query.command)
app.command("explain", cls=Command)(explain.command)
app.command("publish", cls=Command)(publish.command)
app.add_typer(reports.app, name="reports")
app.add_typer(share.app, name="share")
app.add_typer(budget.app, name="budget")
app.add_typer(keys.app, name="keys")
app.add_typer(discover.app, name="discover")
app.command("serve", cls=Command)(serve.command)
app.command("certify", cls=Command)(certify.command)
app.command("demo", cls=Command)(demo.command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inbounds {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")]


@app.callback()
def _about(version: Version = False) -> None:
    """Differentially private answers that stay within publicly known bounds.

    \b
    Example:
      inbounds release 97 --bounds "[0, 100]" --sensitivity 2 --epsilon 0.5
    """
