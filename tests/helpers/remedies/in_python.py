"""Calls in Python that are refused, and what their remedies lead to; all are about the clinic of the corpus."""

from __future__ import annotations

from typing import Any

from inbounds.query import case, column
from tests.helpers.remedies.followed import Followed, followed

ODD: Any = 3
"""What none of these calls takes."""

TEXT: Any = "x"

CASES: list[Followed] = [
    followed(lambda d: d.mean("agee"), lambda d: d.mean("age")),
    followed(lambda d: d.mean("patient"), lambda d: d.count_units()),
    followed(lambda d: d.sql(ODD), lambda d: d.sql("SELECT COUNT(*) FROM visits")),
    followed(lambda d: d.count().where(ODD), lambda d: d.count().where("age >= 65")),
    followed(lambda d: d.count().where(column("age").is_in(ODD)), lambda d: d.count().where(column("age").is_in([3]))),
    followed(lambda d: d.count().where(column("age").is_in([])), lambda d: d.count().where(column("age").is_in([3]))),
    followed(
        lambda d: d.count().where((column("age") > 3) & ODD),
        lambda d: d.count().where((column("age") > 3) & (column("cost") > 3)),
    ),
    followed(lambda d: d.mean(column(ODD)), lambda d: d.mean(column("age"))),
    followed(
        lambda d: d.mean(case(ODD, otherwise=0)),
        lambda d: d.mean(case((column("age") < 18, 0), otherwise=1)),
    ),
    followed(lambda d: d.mean(column("age") + ODD.__class__), lambda d: d.mean(column("age") + 1)),
    followed(lambda d: d.histogram("age", 0), lambda d: d.histogram("age", 10)),
    followed(lambda d: d.histogram("age", TEXT), lambda d: d.histogram("age", 10)),
    followed(lambda d: d.histogram("age", [3, 2]), lambda d: d.histogram("age", [2, 3])),
    followed(lambda d: d.histogram("age", [3, 500]), lambda d: d.histogram("age", [3])),
    followed(lambda d: d.histogram("clinic", 3), lambda d: d.histogram("clinic")),
    followed(lambda d: d.count().by("cost"), lambda d: d.histogram("cost", 10)),
    followed(lambda d: d.count().by("clinic", "clinic"), lambda d: d.count().by("clinic")),
    followed(lambda d: d.count().with_totals(), lambda d: d.count().by("clinic").with_totals()),
    followed(
        lambda d: d.count().by("clinic").with_totals().by("sex"),
        lambda d: d.count().by("clinic").by("sex").with_totals(),
    ),
    followed(
        lambda d: d.count().by("clinic").with_totals().alone(),
        lambda d: d.count().by("clinic").alone(),
    ),
    followed(lambda d: d.count().groupings("clinic"), lambda d: d.count().groupings(("clinic",))),
    followed(lambda d: d.count().groupings(), lambda d: d.count().groupings(("clinic",), ())),
    followed(lambda d: d.join("clinics"), lambda d: d.join("clinics", on="clinic").count()),
    followed(lambda d: d.join("clinics", on=ODD), lambda d: d.join("clinics", on="clinic").count()),
    followed(lambda d: d.join("prescriptions", on="drugs"), lambda d: d.join("prescriptions").count()),
    followed(
        lambda d: d.join("prescriptions", on={"patient": "takers"}),
        lambda d: d.join("prescriptions", on={"patient": "taker"}).count(),
    ),
    followed(lambda d: d.join("visits"), lambda d: d.join("visits", name="visits_2").count()),
    followed(lambda d: d.join("visits", name=ODD), lambda d: d.join("visits", name="b").count()),
    followed(lambda d: d.rows_of("clinics"), lambda d: d.join("clinics", on="clinic").count()),
    followed(lambda d: d.per("clinic", n="COUNT(*)"), lambda d: d.per("patient", "clinic", n="COUNT(*)").mean("n")),
    followed(lambda d: d.quantile("age", "x"), lambda d: d.quantile("age", 0.9)),
    followed(lambda d: d.count().select(n="clinics"), lambda d: d.count().select(n="count")),
    followed(lambda d: d.count().where("age > '3'"), lambda d: d.count().where("age > 3")),
]
