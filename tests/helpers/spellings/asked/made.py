"""Tables made of tables: WITH, derived tables, the models of dbt, one row for each patient, inner HAVING."""

from __future__ import annotations

from datetime import date

from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import (
    column,
    count,
    distinct,
    groups,
    line,
    mean,
    n,
    of_units,
    quantile,
    share,
    table,
    total,
    where,
)

DERIVED = [
    Asked("with-all", Style.DBT,
          "with source as (select * from visits) select ward, count(*) as visits from source group by ward",
          lambda h: table(h.visits, "ward", n)),
    Asked("with-renamed", Style.DBT,
          "with source as (select * from visits), renamed as (select patient_id, ward as department, cost as "
          "amount, admitted as admitted_on from source) select department, sum(amount) as spent from renamed group "
          "by department",
          lambda h: table(h.visits, "ward", total("cost"))),
    Asked("with-filtered", Style.DBT,
          "with source as (select * from visits), filtered as (select * from source where age >= 65), final as "
          "(select ward, count(*) as visits, avg(stay) as days from filtered group by 1) select * from final",
          lambda h: table(where(h.visits, lambda v: v.age >= 65), "ward", n, mean("stay"))),
    Asked("with-computed", Style.DBT,
          "with visits_enriched as (select *, cost * 0.9 as net, case when stay = 0 then 'day' else 'night' end as "
          "kind from visits) select kind, avg(net) as usual from visits_enriched group by kind",
          lambda h: table(h.visits, lambda v: "day" if v.stay == 0 else "night", mean(lambda v: 0.9 * v.cost))),
    Asked("with-four-steps", Style.DBT,
          "with source as (select * from visits), renamed as (select patient_id, ward as unit_name, age, cost from "
          "source), adults as (select * from renamed where age >= 18), final as (select unit_name, cost from "
          "adults where cost > 100) select unit_name, count(*) as n from final group by unit_name",
          lambda h: table(where(h.visits, lambda v: v.age >= 18 and v.cost > 100), "ward", n)),
    Asked("with-two-names", Style.DBT,
          "with visits as (select * from visits where sex = 'f') select count(*) from visits",
          lambda h: line(h.visits, count(lambda v: v.sex == "f"))),
    Asked("derived-filter", Style.MODE,
          "SELECT sub.ward, COUNT(*) FROM (SELECT * FROM visits WHERE readmitted) sub GROUP BY sub.ward",
          lambda h: table(where(h.visits, lambda v: v.readmitted), "ward", n)),
    Asked("derived-columns", Style.MODE,
          "SELECT AVG(per_day) FROM (SELECT patient_id, cost / 10 AS per_day FROM visits WHERE stay > 0) t",
          lambda h: line(where(h.visits, lambda v: v.stay > 0), mean(lambda v: v.cost / 10))),
    Asked("derived-without-unit", Style.MODE,
          "SELECT AVG(cost) FROM (SELECT cost FROM visits WHERE ward = 'surgery') AS s",
          lambda h: line(where(h.visits, lambda v: v.ward == "surgery"), mean("cost"))),
    Asked("derived-twice", Style.MODE,
          "SELECT COUNT(*) FROM (SELECT * FROM (SELECT * FROM visits WHERE age < 40) a WHERE sex = 'm') b",
          lambda h: line(h.visits, count(lambda v: v.age < 40 and v.sex == "m"))),
    Asked("derived-age-group", Style.POSTGRESQL,
          "SELECT age_group, COUNT(*) FROM (SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS age_group "
          "FROM visits) AS t GROUP BY age_group ORDER BY age_group",
          lambda h: table(h.visits, lambda v: "young" if v.age < 40 else "old", n), ordered=True),
    Asked("derived-of-released", Style.MODE,
          "SELECT AVG(n) AS usual FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t",
          lambda h: [(len(h.visits) / 4,)]),
    Asked("greatest-of-released", Style.MODE,
          "SELECT MAX(n) FROM (SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis) AS t",
          lambda h: [(max(row[1] for row in table(h.visits, "diagnosis", n)),)]),
    Asked("filter-of-released", Style.MODE,
          "SELECT * FROM (SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis) AS t WHERE n > 500",
          lambda h: [row for row in table(h.visits, "diagnosis", n) if row[1] > 500]),
    Asked("sum-of-released", Style.SUPERSET,
          'SELECT region AS region, SUM(count) AS "SUM(count)" FROM (SELECT region, ward, COUNT(*) AS count FROM '
          'visits GROUP BY 1, 2) AS expr_qry GROUP BY region ORDER BY "SUM(count)" DESC LIMIT 1000',
          lambda h: sorted(table(h.visits, "region", n), key=lambda row: -row[1]), ordered=True),
]  # fmt: skip

PER_UNIT = [
    Asked("visits-of-each", Style.MODE,
          "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t",
          lambda h: line(of_units(h.visits, n), mean(column(0)))),
    Asked("median-visits-of-each", Style.DBT,
          "with per_patient as (select patient_id, count(*) as visits from visits group by 1) select "
          "median(visits) from per_patient",
          lambda h: line(of_units(h.visits, n), quantile(column(0), 0.5))),
    Asked("distribution-of-visits", Style.MODE,
          "SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) "
          "AS t GROUP BY n ORDER BY n",
          lambda h: table(of_units(h.visits, n), column(0), n)),
    Asked("inner-having", Style.MODE,
          "SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 3) AS t",
          lambda h: line(of_units(h.visits, n), count(lambda row: row[0] > 3))),
    Asked("inner-having-and-measure", Style.MODE,
          "SELECT AVG(spent) FROM (SELECT patient_id, SUM(cost) AS spent FROM visits GROUP BY patient_id HAVING "
          "COUNT(*) >= 2) AS t",
          lambda h: line(where(of_units(h.visits, n, total("cost")), lambda row: row[0] >= 2), mean(column(1)))),
    Asked("inner-having-over-alias", Style.DUCKDB,
          "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY ALL HAVING n BETWEEN 2 AND "
          "3)",
          lambda h: line(of_units(h.visits, n), count(lambda row: 2 <= row[0] <= 3))),
    Asked("where-on-per-unit-rows", Style.MODE,
          "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t WHERE n > 3",
          lambda h: line(of_units(h.visits, n), count(lambda row: row[0] > 3))),
    Asked("frequent-patients-by-with", Style.DBT,
          "with counts as (select patient_id, count(*) as n from visits group by patient_id), frequent as (select "
          "* from counts where n >= 4) select count(*) as frequent_patients from frequent",
          lambda h: line(of_units(h.visits, n), count(lambda row: row[0] >= 4))),
    Asked("share-of-frequent", Style.DUCKDB,
          "SELECT AVG((n > 3)::INT) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
          lambda h: line(of_units(h.visits, n), share(lambda row: row[0] > 3))),
    Asked("own-column-of-patients", Style.DBT,
          "with per_patient as (select p.patient_id, p.region, count(*) as n from visits v join patients p on "
          "v.patient_id = p.patient_id group by p.patient_id, p.region) select region, avg(n) as visits from "
          "per_patient group by region",
          lambda h: table([(region, many) for _, region, many in table(h.visits, ("patient_id", "region"), n)],
                          column(0), mean(column(1)))),
    Asked("own-column-beside-count", Style.MODE,
          "SELECT region, AVG(n) FROM (SELECT patient_id, region, COUNT(*) AS n FROM visits GROUP BY patient_id, "
          "region) AS t GROUP BY region",
          lambda h: table([(region, many) for _, region, many in table(h.visits, ("patient_id", "region"), n)],
                          column(0), mean(column(1)))),
    Asked("own-column-by-max", Style.MYSQL,
          "SELECT region, COUNT(*) AS patients FROM (SELECT patient_id, MAX(region) AS region FROM visits GROUP BY "
          "patient_id) AS t GROUP BY region",
          lambda h: table(h.visits, "region", distinct("patient_id"))),
    Asked("own-column-by-any-value", Style.DUCKDB,
          "SELECT sex, AVG(n) FROM (SELECT patient_id, ANY_VALUE(sex) AS sex, COUNT(*) AS n FROM visits GROUP BY "
          "patient_id) AS t GROUP BY sex",
          lambda h: table([(sex, many) for _, sex, many in table(h.visits, ("patient_id", "sex"), n)], column(0),
                          mean(column(1)))),
    Asked("spent-by-each", Style.MODE,
          "SELECT sex, AVG(spent) FROM (SELECT patient_id, MAX(sex) AS sex, SUM(cost) AS spent FROM visits GROUP "
          "BY 1) t GROUP BY sex",
          lambda h: table([(sex, spent) for _, sex, spent in table(h.visits, ("patient_id", "sex"), total("cost"))],
                          column(0), mean(column(1)))),
    Asked("ever-readmitted", Style.DUCKDB,
          "SELECT COUNT(*) FROM (SELECT patient_id, BOOL_OR(readmitted) AS ever FROM visits GROUP BY patient_id) "
          "WHERE ever",
          lambda h: line(of_units(h.visits, lambda rows: any(v.readmitted for v in rows)), count(column(0)))),
    Asked("ever-in-emergency", Style.BIGQUERY,
          "SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING LOGICAL_OR(ward = "
          "'emergency')) AS t",
          lambda h: line(where(h.visits, lambda v: v.ward == "emergency"), distinct("patient_id")),
          "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE ward = 'emergency'"),
    Asked("always-dear", Style.POSTGRESQL,
          "SELECT dear, COUNT(*) FROM (SELECT patient_id, EVERY(cost > 200) AS dear FROM visits GROUP BY patient_id) t "
          "GROUP BY dear",
          lambda h: table(of_units(h.visits, lambda rows: all(v.cost > 200 for v in rows)), column(0), n),
          "SELECT dear, COUNT(*) FROM (SELECT patient_id, BOOL_AND(cost > 200) AS dear FROM visits GROUP BY "
          "patient_id) t GROUP BY dear"),
    Asked("first-ward", Style.DUCKDB,
          "SELECT first_ward, COUNT(*) FROM (SELECT patient_id, FIRST(ward ORDER BY admitted) AS first_ward FROM "
          "visits GROUP BY patient_id) AS t GROUP BY first_ward",
          lambda h: table(of_units(h.visits, lambda rows: min((v.admitted, v.ward) for v in rows)[1]), column(0), n),
          "SELECT w, COUNT(*) FROM (SELECT ARG_MIN(ward, admitted::TEXT || ward) AS w FROM visits GROUP BY patient_id) "
          "GROUP BY w"),
    Asked("last-pain", Style.SPARK,
          "SELECT sex, AVG(last_pain) FROM (SELECT patient_id, MIN(sex) AS sex, MAX_BY(pain, admitted) AS last_pain "
          "FROM visits GROUP BY patient_id) AS t GROUP BY sex",
          lambda h: table([(rows[0].sex, max((v.admitted, -v.pain) for v in rows)) for rows in groups(
              where(h.visits, lambda v: v.pain is not None), ["patient_id"]).values()], column(0),
              mean(lambda row: -row[1][1])),
          "SELECT sex, AVG(p) FROM (SELECT MIN(sex) AS sex, ARG_MAX(pain, (admitted - DATE '2025-01-01') * 100 - pain) "
          "AS p FROM visits GROUP BY patient_id) GROUP BY sex"),
    Asked("readmissions-of-each", Style.MODE,
          "SELECT again, COUNT(*) FROM (SELECT patient_id, SUM(CASE WHEN readmitted THEN 1 ELSE 0 END) AS again "
          "FROM visits GROUP BY patient_id) AS t GROUP BY again",
          lambda h: table(of_units(h.visits, count(lambda v: v.readmitted)), column(0), n)),
    Asked("wards-of-each", Style.MODE,
          "SELECT wards, COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY "
          "patient_id) AS t GROUP BY wards",
          lambda h: table(of_units(h.visits, distinct("ward")), column(0), n)),
    Asked("first-visits-by-month", Style.MODE,
          "SELECT DATE_TRUNC('month', first_day) AS cohort, COUNT(*) AS patients FROM (SELECT patient_id, "
          "MIN(admitted) AS first_day FROM visits GROUP BY patient_id) AS t GROUP BY 1",
          lambda h: table(of_units(h.visits, lambda rows: min(v.admitted for v in rows)),
                          lambda row: row[0].replace(day=1), n)),
    Asked("cohorts", Style.DBT,
          "with firsts as (select patient_id, min(admitted) as first_day from visits group by 1) select "
          "quarter(f.first_day) as cohort, quarter(v.admitted) as seen, count(distinct v.patient_id) as patients "
          "from visits v join firsts f on v.patient_id = f.patient_id group by 1, 2",
          lambda h: table([(min(one.admitted.month for one in rows), v.admitted.month, patient) for (patient,), rows in
                           groups(h.visits, ["patient_id"]).items() for v in rows],
                          (lambda row: (row[0] + 2) // 3, lambda row: (row[1] + 2) // 3), distinct(column(2)))),
    Asked("inner-where-and-having", Style.MODE,
          "SELECT COUNT(*) FROM (SELECT patient_id FROM visits WHERE ward = 'emergency' GROUP BY patient_id HAVING "
          "SUM(cost) > 500) t",
          lambda h: line(of_units(where(h.visits, lambda v: v.ward == "emergency"), total("cost")),
                         count(lambda row: row[0] > 500))),
    Asked("distinct-units-inside", Style.MODE,
          "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits WHERE admitted >= '2025-07-01') t",
          lambda h: line(where(h.visits, lambda v: v.admitted >= date(2025, 7, 1)), distinct("patient_id"))),
    Asked("units-in-a-subquery", Style.MODE,
          "SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id "
          "HAVING COUNT(*) >= 5)",
          lambda h: [(sum(row[0] for row in of_units(h.visits, n) if row[0] >= 5),)]),
]  # fmt: skip

ASKED = [*DERIVED, *PER_UNIT]
