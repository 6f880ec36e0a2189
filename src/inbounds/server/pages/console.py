"""The console: which pages there are, and which of them are in the menu."""

from __future__ import annotations

from inbounds.server.basics.person import Action
from inbounds.server.pages import answers, ask, assets, plan, reports, shared, sign_in, verify
from inbounds.server.pages.manage import contracts, datasets, keys
from inbounds.server.pages.menu import MenuLink

PAGES = (assets, plan, sign_in, ask, answers, keys, datasets, contracts, verify, reports, shared)
"""All of them; the keys come before datasets, none of which can be called so."""

MENU = (
    MenuLink("/plan", "Plan"),
    MenuLink("/ask", "Query", Action.ASK, way="Datasets"),
    MenuLink("/answers", "Answers", Action.READ_ANSWERS),
    MenuLink("/keep", "Manage", Action.GRANT, way="Manage datasets"),
    MenuLink("/verify", "Verify", Action.READ_LEDGER, way="Verify ledger"),
    MenuLink("/reports", "Reports", Action.READ_REPORTS),
)
"""In this order; a role begins at the first of them that is not for everybody."""
