"""The menu: everybody sees what is theirs, and begins there."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request

from inbounds.server.basics.person import Action, Person, Role
from inbounds.server.pages.console import MENU, PAGES
from inbounds.server.pages.menu import Menu, MenuLink, home_of, links_of


def asked_of(menu: Menu) -> Request:
    """Return a request to an application with a menu."""
    app = FastAPI()
    app.state.menu = menu
    return Request({"type": "http", "app": app})


@pytest.mark.parametrize("role", Role)
def test_every_role_begins_at_a_page_of_its_own(role: Role) -> None:
    """Where a role begins is a page that it may see, and that not everybody sees."""
    home = home_of(asked_of(MENU), Person("somebody", role))
    assert home.action is not None
    assert role in home.action.roles


def test_a_role_without_pages_begins_where_everybody_may() -> None:
    """Somebody who may see no page but those for everybody begins at the first of them, and can sign in."""
    menu = (MenuLink("/plan", "Plan"), MenuLink("/keep", "Manage", Action.GRANT))
    assert home_of(asked_of(menu), Person("dora", Role.AUDITOR)).address == "/plan"


def test_the_menu_of_nobody_is_for_everybody() -> None:
    """Whoever is not signed in sees the links that need no role, and a role sees those as well."""
    request = asked_of(MENU)
    assert [link.address for link in links_of(request, None)] == ["/plan"]
    assert all(set(links_of(request, None)) < set(links_of(request, Person("a", role))) for role in Role)


def test_the_menu_leads_to_pages() -> None:
    """Every link of the menu is the address of a page that the console has."""
    addresses = {route.path for page in PAGES for route in page.router.routes if hasattr(route, "path")}
    assert {link.address for link in MENU} <= addresses
