"""The menu of the pages: who sees which link, and where each role begins."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from inbounds.server.basics.person import Action, Person


@dataclass(frozen=True)
class MenuLink:
    """A page that is in the menu."""

    address: str
    words: str
    action: Action | None = None
    """What a role must be allowed to do to see it; without one, everybody sees it."""
    way: str = ""
    """What it is called as a way on from a refusal; the words, unless it says otherwise."""

    def is_for(self, person: Person | None) -> bool:
        """Return whether somebody sees it; nobody is None."""
        return self.action is None or (person is not None and person.may(self.action))


Menu = tuple[MenuLink, ...]


def menu_of(request: Request) -> Menu:
    """Return the whole menu of the application."""
    menu: Menu = request.app.state.menu
    return menu


def links_of(request: Request, person: Person | None) -> Menu:
    """Return what somebody sees of the menu."""
    return tuple(link for link in menu_of(request) if link.is_for(person))


def home_of(request: Request, person: Person) -> MenuLink:
    """Return where somebody begins: the first link that is not for everybody."""
    links = links_of(request, person)
    return next((link for link in links if link.action is not None), links[0])
