"""Sharing: the owner of an answer gives a link to people whom the custodian's file names, and takes it back.

What is shared was released, and has left at its tick: whoever reads it learns what its owner could tell them anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.service.publishing.report_shape import Description, Title
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import StoredAnswer, load_answer
from inbounds.server.state.share_store import Share

UNKNOWN_LINK = "no answer is shared with you at this address; ask whoever sent you the link"
MOST_PEOPLE = 50


class Sharing(BaseModel):
    """An answer to share: what it is called for others, and with whom it is shared."""

    model_config = ConfigDict(extra="forbid")
    title: Title
    description: Description = None
    people: list[str] = Field(
        min_length=1, max_length=MOST_PEOPLE, description="Names of people in the custodian's file."
    )


class ShareOut(BaseModel):
    """A link to an answer."""

    id: str
    address: str = Field(description="The page that shows the answer to these people.")
    title: str
    description: str | None
    owner: str
    created: str
    people: list[str] = Field(description="With whom it is shared; only its owner sees the names of others.")


@dataclass(frozen=True)
class SharedAnswer:
    """An answer that somebody may read by a link."""

    share: Share
    stored: StoredAnswer


def share_answer(service: Service, person: Person, key: str, sharing: Sharing) -> Share:
    """Make a link to one's own answer, which must have left already."""
    load_answer(service, person, key)
    people = dict.fromkeys(name.strip() for name in sharing.people)
    unknown = [name for name in people if name not in service.file.people]
    if unknown:
        raise Problem(
            "invalid-parameter",
            "the custodian's file does not have all of these people; write each name as it is there, one per line",
        )
    name = service.shares.add(person.name, key, sharing.title, sharing.description, tuple(people))
    share = None if name is None else service.shares.find(name)
    if share is None:
        raise Problem("too-many", "you have too many links; revoke one you no longer need")
    return share


def shares_of(service: Service, person: Person, key: str) -> list[Share]:
    """Return the links to one of a person's own answers."""
    return service.shares.of_answer(person.name, key)


def revoke_share(service: Service, person: Person, key: str, name: str) -> None:
    """Take a link back, at once."""
    if not service.shares.revoke(name, person.name, key):
        raise Problem("not-found", "this answer has no link of this id; reload the page to see its links")


def shared_with(service: Service, person: Person) -> list[Share]:
    """Return the links that somebody may open, the newest first."""
    return [share for share in service.shares.with_person(person.name) if _owner_of(service, share) is not None]


def load_shared(service: Service, person: Person, name: str) -> SharedAnswer:
    """Return a shared answer; whoever it is not shared with is told the same as of a link that does not exist."""
    share = service.shares.find(name)
    owner = None if share is None else _owner_of(service, share)
    if share is None or owner is None or person.name not in (share.owner, *share.people):
        raise Problem("not-found", UNKNOWN_LINK)
    stored = load_answer(service, owner, share.key)
    return SharedAnswer(share, replace(stored, key=share.id, answer=replace(stored.answer, request_id=share.id)))


def _owner_of(service: Service, share: Share) -> Person | None:
    """Return who shares an answer; the links of whoever left the file lead nowhere."""
    owner = service.file.people.get(share.owner)
    return owner if owner is not None and owner.may(Action.SHARE) else None


def to_share_out(share: Share, person: Person) -> ShareOut:
    """Return a link as the interface has it."""
    people = list(share.people) if share.owner == person.name else [person.name]
    return ShareOut(
        id=share.id,
        address=f"/shared/{share.id}",
        title=share.title,
        description=share.description,
        owner=share.owner,
        created=share.created,
        people=people,
    )
