"""One line of the ledger, and the digest that chains it to the line before."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import format_amount, format_delta
from inbounds.exact.rational import shown

KINDS = ("open", "grant", "charge", "answer", "contract", "delta", "restore")

_HEAD = re.compile(r"(0|[1-9][0-9]{0,18}):([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True)
class Head:
    """A checkpoint: the number of the last entry and its digest, which covers all entries before it."""

    seq: int
    digest: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.digest}"

    @classmethod
    def parse(cls, text: object) -> Head:
        """Read what `str` wrote."""
        read = _HEAD.fullmatch(text.strip()) if isinstance(text, str) else None
        if read is None:
            raise InvalidParameter(
                f"a head must read like '17:<64 hex digits>', got {shown(text)}; give the whole text that was saved"
            )
        return cls(int(read[1]), read[2])


START = Head(0, "0" * 64)
"""The head of a ledger without entries."""


@dataclass(frozen=True)
class Entry:
    """What happened once: a dataset was opened, a cap changed, budget charged, an answer given, terms recorded, a delta
    added, or an older ledger accepted.

    Fields that do not apply are empty, and amounts are in units. A field keeps its name and its meaning for ever.
    """

    seq: int
    time: str
    """The time by the writer's clock: UTC, in ISO 8601."""
    kind: str
    dataset: str
    analyst: str
    """Whom it is about; of a grant to everybody, and of an opening, empty."""
    amount: int
    """The amount charged or granted; for an opening, the total cap; for an answer, a contract or a restore, 0."""
    per_analyst: int | None
    """The cap that each analyst has from an opening on, None if there is none."""
    request_id: str
    fingerprint: str
    """What was asked, in the caller's notation; of a contract, the digest of its terms."""
    text: str
    """The note of a charge or a grant; of an answer, the answer; of a contract, its terms and why they changed; of a
    delta that came later, why; of a restore, which head was lost and which was found, who accepted that, and why."""
    previous: str
    digest: str
    rho: int | None = None
    """Of a charge, what it counts in rho, where the dataset has a delta for that; else None."""
    delta: int | None = None
    """Of an opening, or of kind delta, the budget's; of a charge, its own; of a grant, how much more charges may have.
    None: 0."""
    reserved: int | None = None
    """Beside a budget's delta, the part of it that is kept for charges that have one of their own.  None: 0."""

    @classmethod
    def after(cls, head: Head, **fields: Any) -> Entry:
        """Return the entry that follows `head`, with its digest."""
        unsealed = cls(seq=head.seq + 1, previous=head.digest, digest="", **fields)
        return cls(**{**vars(unsealed), "digest": unsealed.computed()})

    @classmethod
    def of(cls, row: Sequence[Any]) -> Entry:
        """Return the entry that a row of the store holds."""
        return cls(*row)

    @property
    def head(self) -> Head:
        """The head of the chain that ends here."""
        return Head(self.seq, self.digest)

    def row(self) -> tuple[Any, ...]:
        """Return the fields, in order."""
        return tuple(getattr(self, name) for name in FIELDS)

    def computed(self) -> str:
        """Return the digest that all the other fields, the previous digest among them, should have."""
        fields = {name: value for name, value in vars(self).items() if name != "digest"}
        # Entries of earlier releases have none of these, and their digests stay what they were.
        fields = {name: value for name, value in fields.items() if name not in LATER or value is not None}
        # What is in a store that was tampered with may be of any type.
        canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=repr)
        return sha256(canonical.encode("ascii")).hexdigest()

    def data(self) -> dict[str, Any]:
        """Return it as plain data, amounts in epsilon, rho and delta as decimal text; the last two if there are any."""
        per_analyst = None if self.per_analyst is None else format_amount(self.per_analyst)
        fields = {**vars(self)} | {"amount": format_amount(self.amount), "per_analyst": per_analyst}
        for name, write in LATER.items():
            value = fields.pop(name)
            if value is not None:
                fields[name] = write(value)
        return fields


FIELDS = tuple(Entry.__dataclass_fields__)
"""The names of the fields, in order: also those of the columns in a store."""

LATER = {"rho": format_amount, "delta": format_delta, "reserved": format_delta}
"""The fields that the first releases did not have, and how they are written; they are the last columns."""

FIRST_FIELDS = FIELDS[: -len(LATER)]
"""The fields that every release has."""
