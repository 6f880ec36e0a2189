"""Every exception of the package.

    InboundsError
    ├── InvalidBounds        a set of possible answers that makes no sense
    ├── InvalidParameter     a bad epsilon, sensitivity, pooling, guarantee or confidence
    ├── InvalidAnswer        an answer of a kind that cannot be released
    ├── LatticeTooFine       the lattice asked for needs more than 62 bits
    └── NotPrivate           a privacy claim that was refuted or could not be proved

Each message names the rule, what the caller passed and the remedy. No message ever holds an answer, or anything
computed from one: the exceptions about answers speak of their kind only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inbounds.certificate import Certificate


class InboundsError(Exception):
    """The root of every error that `inbounds` raises on purpose."""


class InvalidBounds(InboundsError, ValueError):
    """The description of the possible answers is contradictory or incomplete."""


class InvalidParameter(InboundsError, ValueError):
    """A parameter of a mechanism or of a question to it is outside what it may be."""


class InvalidAnswer(InboundsError, ValueError):
    """The answer handed to a release is of a kind that cannot be released."""


class LatticeTooFine(InboundsError, ValueError):
    """The lattice has more points than 62 bits can number."""


class NotPrivate(InboundsError):
    """A mechanism's claim is false, or could not be proved; `certificate` holds the witness."""

    def __init__(self, message: str, certificate: Certificate) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[NotPrivate], tuple[str, Certificate]]:
        return NotPrivate, (str(self), self.certificate)
