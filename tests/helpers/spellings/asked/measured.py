"""Quantiles under their many names, approximate counts, spreads, regression, the commonest key."""

from __future__ import annotations

from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import (
    commonest,
    correlation,
    covariance,
    deviation,
    distinct,
    intercept,
    line,
    mean,
    n,
    quantile,
    slope,
    table,
    total,
    variance,
    where,
)

GRAIN = 0.5
"""Costs are told apart by some 4,000 buckets, so a quantile of them may be that far off."""

QUANTILES = [
    Asked("median", Style.DUCKDB, "SELECT MEDIAN(stay) FROM visits",
          lambda h: line(h.visits, quantile("stay", 0.5))),
    Asked("median-by-group", Style.DUCKDB, "SELECT ward, median(cost) FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", quantile("cost", 0.5, grain=GRAIN))),
    Asked("percentile-cont", Style.POSTGRESQL,
          "SELECT ward, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90 FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", quantile("cost", 0.9, grain=GRAIN))),
    Asked("percentile-disc", Style.POSTGRESQL, "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY age) FROM visits",
          lambda h: line(h.visits, quantile("age", 0.25))),
    Asked("percentile-descending", Style.POSTGRESQL,
          "SELECT PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY stay DESC) FROM visits",
          lambda h: line(h.visits, quantile("stay", 0.9))),
    Asked("quantile-cont", Style.DUCKDB, "SELECT sex, quantile_cont(age, 0.75) FROM visits GROUP BY sex",
          lambda h: table(h.visits, "sex", quantile("age", 0.75))),
    Asked("quantile-disc", Style.DUCKDB, "SELECT quantile_disc(stay, 0.5) FROM visits",
          lambda h: line(h.visits, quantile("stay", 0.5))),
    Asked("quantiles-of-a-list", Style.DUCKDB, "SELECT quantile_cont(cost, [0.25, 0.5, 0.75]) FROM visits",
          lambda h: line(h.visits, *(quantile("cost", level, grain=GRAIN) for level in (0.25, 0.5, 0.75))),
          "SELECT quantile_cont(cost, 0.25), quantile_cont(cost, 0.5), quantile_cont(cost, 0.75) FROM visits"),
    Asked("approx-quantile", Style.DUCKDB, "SELECT approx_quantile(cost, 0.5) FROM visits",
          lambda h: line(h.visits, quantile("cost", 0.5, grain=GRAIN)),
          "SELECT quantile_cont(cost, 0.5) FROM visits"),
    Asked("approx-percentile", Style.SPARK,
          "SELECT ward, APPROX_PERCENTILE(cost, 0.9) AS p90 FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", quantile("cost", 0.9, grain=GRAIN)),
          "SELECT ward, quantile_cont(cost, 0.9) FROM visits GROUP BY ward"),
    Asked("three-quartiles", Style.POSTGRESQL,
          "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY stay) AS q1, PERCENTILE_CONT(0.5) WITHIN GROUP "
          "(ORDER BY stay) AS q2, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY stay) AS q3 FROM visits",
          lambda h: line(h.visits, *(quantile("stay", level) for level in (0.25, 0.5, 0.75)))),
    Asked("quantile-filtered", Style.DUCKDB, "SELECT MEDIAN(age) FILTER (WHERE readmitted) FROM visits",
          lambda h: line(where(h.visits, lambda v: v.readmitted), quantile("age", 0.5))),
    Asked("least-and-greatest", Style.STANDARD, "SELECT MIN(stay), MAX(age) FROM visits",
          lambda h: line(h.visits, quantile("stay", 0.01), quantile("age", 0.99)),
          "SELECT quantile_disc(stay, 0.01), quantile_disc(age, 0.99) FROM visits"),
]  # fmt: skip

SPREADS = [
    Asked("deviation", Style.STANDARD, "SELECT ward, STDDEV(cost) FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", deviation("cost")), near=0.5),
    Asked("deviation-of-a-sample", Style.STANDARD, "SELECT STDDEV_SAMP(stay) FROM visits",
          lambda h: line(h.visits, deviation("stay")), near=0.05),
    Asked("stdev", Style.SQL_SERVER, "SELECT STDEV(age) FROM visits",
          lambda h: line(h.visits, deviation("age")),
          "SELECT STDDEV(age) FROM visits", near=0.05),
    Asked("variance", Style.STANDARD, "SELECT sex, VARIANCE(stay) FROM visits GROUP BY sex",
          lambda h: table(h.visits, "sex", variance("stay")), near=0.2),
    Asked("variance-of-all", Style.STANDARD, "SELECT VAR_POP(stay), STDDEV_POP(stay) FROM visits",
          lambda h: line(h.visits, variance("stay", sample=False), deviation("stay", sample=False)), near=0.2),
    Asked("mean-and-deviation", Style.MODE,
          "SELECT ward, COUNT(*), AVG(stay), STDDEV(stay) FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", n, mean("stay"), deviation("stay")), near=0.05),
    Asked("coefficient-of-variation", Style.POSTGRESQL, "SELECT STDDEV(cost) / AVG(cost) AS cv FROM visits",
          lambda h: [(deviation("cost")(h.visits) / mean("cost")(h.visits),)], near=0.002),
]  # fmt: skip

TOGETHER = [
    Asked("correlation", Style.POSTGRESQL, "SELECT CORR(stay, cost) FROM visits",
          lambda h: line(h.visits, correlation("stay", "cost")), near=0.002),
    Asked("covariance", Style.POSTGRESQL, "SELECT COVAR_POP(stay, cost), COVAR_SAMP(stay, cost) FROM visits",
          lambda h: line(h.visits, covariance("stay", "cost", sample=False), covariance("stay", "cost")), near=5),
    Asked("regression-slope", Style.POSTGRESQL, "SELECT REGR_SLOPE(cost, stay) FROM visits",
          lambda h: line(h.visits, slope("cost", "stay")), near=0.05),
    Asked("regression", Style.POSTGRESQL,
          "SELECT REGR_SLOPE(cost, stay) AS per_day, REGR_INTERCEPT(cost, stay) AS base, REGR_R2(cost, stay) AS r2 "
          "FROM visits",
          lambda h: line(h.visits, slope("cost", "stay"), intercept("cost", "stay"),
                         lambda rows: correlation("cost", "stay")(rows) ** 2), near=0.03),
    Asked("regression-by-group", Style.DUCKDB,
          "SELECT sex, regr_slope(cost, stay), regr_r2(cost, stay) FROM visits GROUP BY sex",
          lambda h: table(h.visits, "sex", slope("cost", "stay"),
                          lambda rows: correlation("cost", "stay")(rows) ** 2), near=0.03),
    Asked("regression-count", Style.POSTGRESQL, "SELECT REGR_COUNT(pain, age) FROM visits",
          lambda h: line(where(h.visits, lambda v: v.pain is not None), n)),
    Asked("regression-means", Style.POSTGRESQL, "SELECT REGR_AVGX(pain, age), REGR_AVGY(pain, age) FROM visits",
          lambda h: line(where(h.visits, lambda v: v.pain is not None), mean("age"), mean("pain"))),
]  # fmt: skip

DIFFERENT = [
    Asked("units", Style.STANDARD, "SELECT COUNT(DISTINCT patient_id) FROM visits",
          lambda h: line(h.visits, distinct("patient_id"))),
    Asked("units-by-group", Style.STANDARD,
          "SELECT region, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY region",
          lambda h: table(h.visits, "region", distinct("patient_id"))),
    Asked("approx-units", Style.DUCKDB, "SELECT approx_count_distinct(patient_id) FROM visits",
          lambda h: line(h.visits, distinct("patient_id")),
          "SELECT COUNT(DISTINCT patient_id) FROM visits"),
    Asked("approx-units-by-group", Style.BIGQUERY,
          "SELECT ward, APPROX_COUNT_DISTINCT(patient_id) AS patients FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", distinct("patient_id")),
          "SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward"),
    Asked("keys-that-occur", Style.STANDARD, "SELECT COUNT(DISTINCT diagnosis) FROM visits",
          lambda h: line(h.visits, distinct("diagnosis"))),
    Asked("mode", Style.DUCKDB, "SELECT mode(diagnosis) FROM visits",
          lambda h: line(h.visits, commonest("diagnosis"))),
    Asked("mode-by-group", Style.DUCKDB, "SELECT ward, mode(diagnosis) AS usual FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", commonest("diagnosis"))),
    Asked("mode-within-group", Style.POSTGRESQL, "SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits",
          lambda h: line(h.visits, commonest("ward"))),
    Asked("mode-of-some", Style.SNOWFLAKE,
          "SELECT mode(ward) AS usual, region FROM visits WHERE age >= 65 GROUP BY region ORDER BY region",
          lambda h: [(usual, region) for region, usual in
                     sorted(table(where(h.visits, lambda v: v.age >= 65), "region", commonest("ward")))], ordered=True),
    Asked("max-by", Style.SPARK,
          "SELECT sex, max_by(ward, n) AS usual FROM (SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward) "
          "AS t GROUP BY sex",
          lambda h: table(h.visits, "sex", commonest("ward"))),
    Asked("arg-max", Style.DUCKDB, "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
          lambda h: line(h.visits, commonest("ward"))),
    Asked("visits-per-patient", Style.MODE,
          "SELECT region, COUNT(*) * 1.0 / COUNT(DISTINCT patient_id) AS each FROM visits GROUP BY region",
          lambda h: table(h.visits, "region", lambda rows: len(rows) / distinct("patient_id")(rows))),
    Asked("sum-of-a-product", Style.STANDARD, "SELECT ward, SUM(cost * 1.08) AS with_tax FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", lambda rows: 1.08 * total("cost")(rows))),
    Asked("cost-per-day", Style.MODE,
          "SELECT diagnosis, SUM(cost) / SUM(stay) AS per_day FROM visits GROUP BY diagnosis",
          lambda h: table(h.visits, "diagnosis", lambda rows: total("cost")(rows) / total("stay")(rows))),
]  # fmt: skip

ASKED = [*QUANTILES, *SPREADS, *TOGETHER, *DIFFERENT]
