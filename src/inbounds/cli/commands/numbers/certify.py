"""`inbounds certify`: is a scale that someone else chose private?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from inbounds.bounds import Bounds
from inbounds.cli.files.new_file import write_new
from inbounds.cli.shell.exit_codes import FAILED, NOT_PRIVATE
from inbounds.cli.shell.options import (
    AsJson,
    BoundsText,
    Epsilon,
    Guarantee,
    Sensitivity,
    Trusted,
    read_number,
    read_part,
    read_sensitivity,
)
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.rational import round_down, round_up, shown
from inbounds.files.whole_file import refuse_taken
from inbounds.privacy.certificate import Certificate, brief
from inbounds.privacy.certify import certify
from inbounds.privacy.claim import Claim
from inbounds.privacy.second_opinion import second_opinion

Scale = Annotated[str, typer.Option(metavar="NUMBER", help="The scale of the bounded Laplace noise to check.")]
HowMuch = Annotated[
    str, typer.Option("--pooling", metavar="NUMBER", help="From 0 (normalise) to 1 (clamp to the bounds).")
]
Independent = Annotated[
    bool,
    typer.Option("--independent", help="Have the proof checked again by a program that uses nothing of inbounds."),
]
CertificateFile = Annotated[
    str | None,
    typer.Option("--certificate", metavar="FILE", help="Save the certificate as JSON, for others to check."),
]


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    bounds: BoundsText,
    scale: Scale,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    guarantee: Guarantee = "standard",
    pooling: HowMuch = "0",
    trusted: Trusted = False,
    independent: Independent = False,
    certificate_file: CertificateFile = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute that noise of a given scale is private.

    The exit code is 0 if it satisfies epsilon, and 4 if it does not. Either way it names the two true values that are
    easiest to tell apart. With --independent it is 1 if the second program cannot tell.

    \b
    Example:
      inbounds certify --bounds "[0, inf)" --sensitivity 1 --epsilon 1 --scale 2
    """
    possible = Bounds.parse(bounds)
    if certificate_file is not None:
        refuse_taken(Path(certificate_file))
    claim = Claim.of(
        possible,
        sensitivity=read_sensitivity(sensitivity, possible),
        epsilon=read_number(epsilon, "--epsilon"),
        scale=_read_scale(scale),
        guarantee=guarantee,
        pooling=read_part(pooling, "--pooling"),
        trusted=trusted,
    )
    try:
        certificate = certify(claim)
    except NotPrivate as refusal:
        certificate = refusal.certificate
    opinion = second_opinion(certificate.to_json()) if independent else None
    if certificate_file is not None:
        write_new(Path(certificate_file), certificate.to_json())
    data, text = _write_data(certificate, claim), _write_rows(certificate, claim, epsilon, scale)
    if opinion is not None:
        data |= {"independent": opinion._asdict()}
        text.append(("independent", opinion.finding))
    show(data, format_pairs(text), as_json=as_json)
    if not certificate.holds or (opinion is not None and opinion.refuted):
        raise typer.Exit(NOT_PRIVATE)
    if opinion is not None and not opinion.holds:
        raise typer.Exit(FAILED)


def _read_scale(text: str) -> float:
    """Read a scale as the double that it is: the shortest text of one may be a hair less."""
    scale = float(read_number(text, "--scale"))
    if not 0 < scale < math.inf:
        raise InvalidParameter(
            f"--scale must be above 0 and finite as a double, got {shown(text)}; write it like 2 or 0.5"
        )
    return scale


def _write_data(certificate: Certificate, claim: Claim) -> dict[str, Any]:
    return {
        "holds": certificate.holds,
        "refuted": certificate.refuted,
        "epsilon": certificate.epsilon,
        "loss_at_most": round_up(certificate.bound),
        "loss_at_least": round_down(certificate.witnessed),
        "worst_pair": list(certificate.worst_pair),
        "guarantee": certificate.guarantee,
        "step": str(claim.lattice.step),
        "method": certificate.method,
    }


def _write_rows(certificate: Certificate, claim: Claim, epsilon: str, scale: str) -> list[tuple[str, Any]]:
    verdict = "is private" if certificate.holds else "is NOT private" if certificate.refuted else "could not be proved"
    first, second = map(brief, certificate.worst_pair)
    return [
        ("scale", f"{scale} {verdict} at epsilon {epsilon}"),
        ("finding", certificate.finding),
        ("witness", f"the true values {first} and {second} are the easiest to tell apart"),
        ("step", claim.lattice.step),
        ("proof", certificate.how),
    ]
