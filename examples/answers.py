"""Sensitive answers, released in bounds, next to what plain Laplace noise would have said."""

from __future__ import annotations

from datetime import date
from typing import Any

from inbounds import Bounds, Claim, Mechanism, NotPrivate, certify, recommend
from inbounds.published import Geometric, Laplace

YEAR = Bounds.dates("2026-01-01", "2026-12-31", weekdays="Mon-Fri", closed=[("2026-08-03", "2026-08-14")])

QUESTIONS: list[tuple[str, Any, Mechanism, Mechanism]] = [
    (
        "patients with a rare diagnosis",
        2,
        recommend(Bounds(0, None, step=1), sensitivity=1, epsilon=0.5).mechanism,
        Geometric(Bounds(None, None, step=1), sensitivity=1, epsilon=0.5),
    ),
    (
        "satisfied, per cent",
        97.0,
        recommend(Bounds(0, 100), sensitivity=2, epsilon=0.5).mechanism,
        Laplace(Bounds.everything(), sensitivity=2, epsilon=0.5),
    ),
    (
        "day of the inspection, which one report moves by at most 3 days",
        date(2026, 8, 17),
        recommend(YEAR, sensitivity=3, epsilon=1).mechanism,
        Geometric(Bounds.dates("2025-01-01", "2027-12-31"), sensitivity=3, epsilon=1),
    ),
]

DRAWS = 1000


def main() -> None:
    """Print the demonstration."""
    print("Each answer released five times; * marks what everyone knows is impossible.\n")
    for name, truth, bounded, plain in QUESTIONS:
        five = [bounded.release(truth) for _ in range(5)]
        low, high = bounded.interval(five[0], 0.9)
        print(f"{name}: {truth}")
        print(f"  possible      {bounded.bounds.brief()}")
        print(f"  in bounds     {row(five, bounded.bounds)}")
        print(f"  plain Laplace {row([plain.release(truth) for _ in range(5)], bounded.bounds)}")
        print(f"  impossible    plain {impossible(plain, truth, bounded.bounds):.0%} of {DRAWS} releases", end="; ")
        print(f"in bounds {impossible(bounded, truth, bounded.bounds):.0%}")
        print(f"  error         {bounded.error(truth):.3g} expected, by {bounded.name}, epsilon {bounded.epsilon}")
        print(f"  conclusion    from {shown(five[0])}: {shown(low)} to {shown(high)}, 90% confidence")
        print(f"  certificate   {first_line(bounded)} = {bounded.epsilon}\n")
    refuse_the_naive_way()


def refuse_the_naive_way() -> None:
    """Show that cutting the noise off without a larger scale is caught."""
    print("Cutting plain noise off at zero and renormalising, without a larger scale:")
    try:
        certify(Claim.of(Bounds(0, None), sensitivity=1, epsilon=1, scale=1))
    except NotPrivate as refusal:
        finding, worst, *_ = str(refusal.certificate).splitlines()[0].split("; ")
        print(f"  certificate   {finding}\n                {worst}")


def row(released: list[Any], possible: Bounds) -> str:
    """Return releases in a row, the impossible ones marked."""
    return "  ".join(shown(answer) + ("" if answer in possible else "*") for answer in released)


def impossible(mechanism: Mechanism, truth: Any, possible: Bounds) -> float:
    """Return which share of many releases is impossible."""
    return sum(mechanism.release(truth) not in possible for _ in range(DRAWS)) / DRAWS


def shown(answer: Any) -> str:
    """Return an answer at a length for reading."""
    return f"{answer:.2f}" if isinstance(answer, float) else str(answer)


def first_line(mechanism: Mechanism) -> str:
    """Return the finding of a certificate."""
    return str(mechanism.certificate).split(";")[0]


if __name__ == "__main__":
    main()
