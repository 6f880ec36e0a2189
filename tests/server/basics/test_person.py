"""Roles and actions, as refusals name them."""

from __future__ import annotations

from inbounds.server.basics.person import Action, Role


def test_a_role_has_its_article() -> None:
    """A role is named with the article that its first letter needs."""
    named = {role.with_article for role in Role}
    assert {"an analyst", "a custodian", "an auditor"} <= named
    assert {name.split()[0] for name in named if name.split()[1][0] in "aeiou"} == {"an"}
    assert {name.split()[0] for name in named if name.split()[1][0] not in "aeiou"} == {"a"}


def test_all_who_may_are_named() -> None:
    """Those who may do something are listed as in a sentence, however many they are."""
    everybody = Action.KNOW_ONESELF.who
    assert Action.ASK.who == "analysts"
    assert Action.GRANT.who == "custodians"
    assert everybody.startswith("analysts, custodians")
    assert everybody.count(" and ") == 1
