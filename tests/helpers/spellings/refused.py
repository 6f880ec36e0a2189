"""What must stay refused: what shows rows, what lets other people's rows decide, and what nobody protects."""

from __future__ import annotations

from tests.helpers.spellings.spelling import Reason, Refused, Style

ROWS = [
    Refused("all-rows", Style.MODE, "SELECT * FROM visits",
            Reason.SHOWS_ROWS),
    Refused("first-rows", Style.METABASE,
            'SELECT "public"."visits"."ward" AS "ward", "public"."visits"."cost" AS "cost" FROM "public"."visits" '
            "LIMIT 2000",
            Reason.SHOWS_ROWS),
    Refused("sample-rows", Style.SUPERSET,
            "SELECT ward AS ward, age AS age, cost AS cost FROM public.visits LIMIT 1000",
            Reason.SHOWS_ROWS),
    Refused("distinct-values", Style.STANDARD, "SELECT DISTINCT cost FROM visits",
            Reason.SHOWS_ROWS),
    Refused("dearest-rows", Style.MODE, "SELECT ward, cost FROM visits ORDER BY cost DESC LIMIT 10",
            Reason.SHOWS_ROWS),
    Refused("rows-of-a-derived-table", Style.DBT,
            "with source as (select * from visits), final as (select ward, cost from source where age > 90) select "
            "* from final",
            Reason.SHOWS_ROWS),
    Refused("list-of-values", Style.DUCKDB, "SELECT ward, list(cost) FROM visits GROUP BY ward",
            Reason.NOT_A_MEASURE),
    Refused("text-of-values", Style.POSTGRESQL, "SELECT ward, STRING_AGG(diagnosis, ', ') FROM visits GROUP BY ward",
            Reason.NOT_A_MEASURE),
    Refused("first-of-a-group", Style.DUCKDB, "SELECT ward, first(cost) FROM visits GROUP BY ward",
            Reason.NOT_A_MEASURE),
    Refused("latest-row-of-each", Style.DUCKDB,
            "SELECT patient_id, ward FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY "
            "admitted DESC) = 1",
            Reason.SHOWS_ROWS),
]  # fmt: skip

UNITS = [
    Refused("patients-as-groups", Style.MODE, "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
            Reason.SHOWS_UNITS),
    Refused("dearest-patients", Style.MODE,
            "SELECT patient_id, SUM(cost) AS spent FROM visits GROUP BY patient_id ORDER BY spent DESC LIMIT 10",
            Reason.SHOWS_UNITS),
    Refused("one-patient", Style.MODE, "SELECT COUNT(*) FROM visits WHERE patient_id = 17",
            Reason.SHOWS_UNITS),
    Refused("some-patients", Style.MODE, "SELECT AVG(cost) FROM visits WHERE patient_id IN (17, 18)",
            Reason.SHOWS_UNITS),
    Refused("patients-by-last-digit", Style.MODE, "SELECT patient_id % 10 AS digit, COUNT(*) FROM visits GROUP BY 1",
            Reason.SHOWS_UNITS),
    Refused("greatest-patient", Style.MODE, "SELECT MAX(patient_id) FROM visits",
            Reason.SHOWS_UNITS),
    Refused("distinct-patients", Style.STANDARD, "SELECT DISTINCT patient_id FROM visits",
            Reason.SHOWS_UNITS),
    Refused("patients-of-a-derived-table", Style.DBT,
            "with per_patient as (select patient_id, count(*) as n from visits group by 1) select patient_id, n "
            "from per_patient where n > 5",
            Reason.SHOWS_UNITS),
]  # fmt: skip

OTHERS = [
    Refused("above-the-mean", Style.MODE, "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
            Reason.OTHERS_ROWS),
    Refused("above-the-ward", Style.MODE,
            "SELECT COUNT(*) FROM visits v WHERE cost > (SELECT AVG(cost) FROM visits w WHERE w.ward = v.ward)",
            Reason.OTHERS_ROWS),
    Refused("rows-in-order", Style.POSTGRESQL,
            "SELECT AVG(cost) FROM (SELECT cost, ROW_NUMBER() OVER (ORDER BY cost DESC) AS place FROM visits) AS t "
            "WHERE place <= 10",
            Reason.OTHERS_ROWS),
    Refused("rows-against-a-window", Style.POSTGRESQL,
            "SELECT COUNT(*) FROM (SELECT cost, AVG(cost) OVER (PARTITION BY ward) AS usual FROM visits) AS t "
            "WHERE cost > usual",
            Reason.OTHERS_ROWS),
    Refused("thirds-of-rows", Style.MODE,
            "SELECT third, AVG(cost) FROM (SELECT cost, NTILE(3) OVER (ORDER BY age) AS third FROM visits) AS t "
            "GROUP BY third",
            Reason.OTHERS_ROWS),
    Refused("rows-of-full-wards", Style.MODE,
            "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > "
            "700)",
            Reason.OTHERS_ROWS),
    Refused("limit-inside", Style.MODE,
            "SELECT AVG(cost) FROM (SELECT * FROM visits ORDER BY cost DESC LIMIT 100) AS t",
            Reason.OTHERS_ROWS),
    Refused("last-day-there-is", Style.MODE,
            "SELECT COUNT(*) FROM visits WHERE admitted = (SELECT MAX(admitted) FROM visits)",
            Reason.OTHERS_ROWS),
]  # fmt: skip

ACROSS = [
    Refused("join-on-a-ward", Style.MODE, "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward",
            Reason.ACROSS_UNITS),
    Refused("cross-join", Style.STANDARD, "SELECT COUNT(*) FROM visits CROSS JOIN patients",
            Reason.ACROSS_UNITS),
    Refused("join-on-a-region", Style.MODE,
            "SELECT p.smoker, COUNT(*) FROM visits v JOIN patients p ON v.region = p.region GROUP BY p.smoker",
            Reason.ACROSS_UNITS),
    Refused("other-patients-of-a-day", Style.MODE,
            "SELECT COUNT(*) FROM visits a, visits b WHERE a.admitted = b.admitted AND a.patient_id <> b.patient_id",
            Reason.ACROSS_UNITS),
]  # fmt: skip

FINAL = [
    Refused("public-only", Style.MODE, "SELECT building, SUM(beds) FROM wards GROUP BY building",
            Reason.PUBLIC),
    Refused("since-today", Style.METABASE,
            "SELECT COUNT(*) FROM visits WHERE admitted >= CURRENT_DATE - INTERVAL '30 days'",
            Reason.TODAY),
    Refused("since-now", Style.SUPERSET,
            "SELECT COUNT(*) AS count FROM visits WHERE admitted >= DATE_TRUNC('month', NOW())",
            Reason.TODAY),
    Refused("unknown-column", Style.MODE, "SELECT AVG(costs) FROM visits",
            Reason.UNKNOWN),
    Refused("unknown-table", Style.MODE, "SELECT COUNT(*) FROM visit",
            Reason.UNKNOWN),
    Refused("delete", Style.STANDARD, "DELETE FROM visits WHERE age > 100",
            Reason.WRITES),
    Refused("create", Style.DBT,
            "create table marts.visits_by_ward as select ward, count(*) as n from visits group by 1",
            Reason.WRITES),
    Refused("two-statements", Style.STANDARD, "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM patients",
            Reason.WRITES),
]  # fmt: skip

REFUSED = [*ROWS, *UNITS, *OTHERS, *ACROSS, *FINAL]
