"""`inbounds share`: answers on a server that their owners share with named people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.shell.arguments import Command, CommandGroup
from inbounds.cli.shell.options import AsJson, KeyFile
from inbounds.cli.shell.output import format_pairs, show
from inbounds.cli.shell.server import SHOWN, ServerAddress, connected, find_entry

if TYPE_CHECKING:
    from inbounds.client import Link

app = typer.Typer(
    cls=CommandGroup,
    help="""Share your answers on a server with named people, read what others shared with you, and revoke links.

    \b
    Example:
      inbounds share list --server https://inbounds.hospital.example
    """,
    short_help="Share answers on a server, and read shared ones.",
)

RequestId = Annotated[str, typer.Argument(metavar="REQUEST", help="The request id of your answer.", show_default=False)]
OwnRequest = Annotated[
    str | None,
    typer.Argument(metavar="REQUEST", help="List the links to this answer of yours instead.", show_default=False),
]
LinkId = Annotated[
    str, typer.Argument(metavar="LINK", help="The link's id, or its beginning, as list shows it.", show_default=False)
]
People = Annotated[
    list[str],
    typer.Option("--with", metavar="NAME", help="Who may read it, as the server's file names them; may be repeated."),
]
Title = Annotated[str, typer.Option(metavar="TEXT", help="What the answer is called for them.")]
Description = Annotated[str | None, typer.Option(metavar="TEXT", help="What else they should know.")]


@app.command("answer", cls=Command)
def share_answer(
    request: RequestId,
    people: People,
    title: Title,
    server: ServerAddress,
    description: Description = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Share an answer of yours with named people, for free.

    Nobody else can open the link, and you can revoke it.

    \b
    Example:
      inbounds share answer q1 --with rita --title "Ages by clinic" \\
          --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        link = connection.share_answer(request, title, people, description=description)
    _show_link("shared", link, as_json=as_json)


@app.command("list", cls=Command)
def list_links(
    server: ServerAddress, request: OwnRequest = None, key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """List what others shared with you, or the links to an answer.

    \b
    Example:
      inbounds share list --server https://inbounds.hospital.example
    """
    from inbounds.display.table import Column, TextTable  # noqa: PLC0415

    with connected(server, key_file) as connection:
        links = connection.shared() if request is None else connection.links(request)
    columns = [Column(name, left=True) for name in ("id", "title", "by" if request is None else "with", "since")]
    cells = [
        [link.id[:SHOWN], link.title, link.owner if request is None else ", ".join(link.people), link.created[:10]]
        for link in links
    ]
    none = "no answer is shared with you" if request is None else "this answer has no links"
    show([asdict(link) for link in links], str(TextTable(columns, cells)) if links else none, as_json=as_json)


@app.command("show", cls=Command)
def show_answer(link_id: LinkId, server: ServerAddress, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Show an answer that was shared with you, for free.

    \b
    Example:
      inbounds share show 5b1e --server https://inbounds.hospital.example
    """
    from inbounds.query.answer.answer_json import write_answer  # noqa: PLC0415

    with connected(server, key_file) as connection:
        link = find_entry(connection.shared(), link_id, "link", "inbounds share list shows all of them")
        answer = connection.shared_answer(link.id)
    facts: list[tuple[str, Any]] = [("title", link.title)]
    facts += [] if link.description is None else [("description", link.description)]
    facts.append(("shared by", link.owner))
    show({**asdict(link), "answer": write_answer(answer)}, f"{answer}\n\n{format_pairs(facts)}", as_json=as_json)


@app.command("revoke", cls=Command)
def revoke(
    request: RequestId, link_id: LinkId, server: ServerAddress, key_file: KeyFile = None, as_json: AsJson = False
) -> None:
    """Revoke a link to an answer of yours, immediately.

    \b
    Example:
      inbounds share revoke q1 5b1e --server https://inbounds.hospital.example
    """
    with connected(server, key_file) as connection:
        remedy = "inbounds share list REQUEST shows all of them"
        link = find_entry(connection.links(request), link_id, "link to this answer", remedy)
        connection.revoke_link(request, link.id)
    _show_link("revoked", link, as_json=as_json)


def _show_link(done: str, link: Link, *, as_json: bool) -> None:
    lines = [(done, link.title), ("with", ", ".join(link.people)), ("page", link.url), ("id", link.id)]
    show(asdict(link), format_pairs(lines), as_json=as_json)
