"""What analysts try and cannot have: each text, the words that are to blame, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refused:
    """A text that is refused."""

    sql: str
    marked: str
    """The words that stand above the mark; nothing if no word is to blame."""
    told: str
    """Part of the message."""


TAKEN = "visits JOIN prescriptions ON visits.patient = prescriptions.taker"

NAMES = [
    Refused("SELECT AVG(ages) FROM visits", "ages", "has no column 'ages'; did you mean age?"),
    Refused("SELECT COUNT(*) FROM visit", "visit", "there is no table 'visit'; did you mean visits?"),
    Refused("SELECT COUNT(*) FROM clinics", "clinics", "clinics is public, so there is nothing to protect"),
    Refused("SELECT COUNT(*) FROM visits WHERE hospital = 'north'", "hospital", "has no column 'hospital'"),
    Refused("SELECT ward2, COUNT(*) FROM visits GROUP BY ward2", "ward2", "has no column 'ward2'"),
    Refused("SELECT clinc, COUNT(*) FROM visits GROUP BY clinic", "clinc", "has no column 'clinc'"),
    Refused("SELECT AVG(FLOOR(height / 10)) FROM visits", "height", "has no column 'height'"),
    Refused("SELECT AVG(w.age) FROM visits v", "w.age", "names another table"),
    Refused(
        "SELECT COUNT(*) FROM visits WHERE clinic = 'nort'",
        "'nort'",
        "'nort' is not a category of clinic; did you mean 'north'?",
    ),
    Refused("SELECT COUNT(*) FROM visits WHERE clinic IN ('north', 'east')", "'east'", "is not a category of clinic"),
    Refused("SELECT COUNT(*) FROM visits WHERE ward = '1'", "'1'", "is not a category of ward"),
    Refused('SELECT COUNT(*) FROM visits WHERE clinic = "north"', '"north"', "for text write 'north'"),
    Refused("SELECT AVG(n) AS n, COUNT(*) AS n FROM visits", "n", "has no column 'n'"),
    Refused("SELECT AVG(age) AS m, COUNT(*) AS m FROM visits", "m", "m names two columns; give them other names"),
    Refused(f"SELECT AVG(cost) FROM {TAKEN}", "cost", "cost may be visits.cost or prescriptions.cost"),
    Refused(f"SELECT AVG(prescriptions.age) FROM {TAKEN}", "prescriptions.age", "prescriptions has no column age"),
]

UNITS = [
    Refused(
        "SELECT patient, COUNT(*) FROM visits GROUP BY patient",
        "patient",
        "GROUP BY patient would show single people",
    ),
    Refused("SELECT AVG(patient) FROM visits", "patient", "patient is the unit; it can only be counted"),
    Refused("SELECT COUNT(*) FROM visits WHERE patient = 17", "patient", "COUNT(DISTINCT patient)"),
    Refused("SELECT COUNT(*) FROM visits WHERE patient IN (1, 2)", "patient", "COUNT(DISTINCT patient)"),
    Refused("SELECT * FROM visits", "*", "rows are never shown"),
    Refused("SELECT age FROM visits", "age", "rows are never shown"),
    Refused("SELECT age, cost FROM visits LIMIT 10", "age", "rows are never shown"),
    Refused("SELECT DISTINCT patient FROM visits", "patient", "would show single people"),
    Refused("SELECT DISTINCT ON (clinic) clinic FROM visits", "clinic", "DISTINCT ON would show rows"),
    Refused("SELECT DISTINCT AVG(age) FROM visits GROUP BY sex", "DISTINCT", "every column of GROUP BY"),
    Refused("SELECT clinic, age, COUNT(*) FROM visits GROUP BY clinic", "age", "is selected but not in GROUP BY"),
    Refused("SELECT COUNT(DISTINCT cost) FROM visits", "DISTINCT cost", "cost has no categories"),
    Refused(
        "SELECT COUNT(DISTINCT clinic, sex) FROM visits", "DISTINCT clinic, sex", "COUNT(DISTINCT) takes one column"
    ),
]

FUNCTIONS = [
    Refused("SELECT ENTROPY(age) FROM visits", "ENTROPY(age)", "is not supported; measures are COUNT, SUM, AVG"),
    Refused("SELECT STRING_AGG(clinic, ',') FROM visits", "STRING_AGG(clinic, ',')", "measures are COUNT"),
    Refused("SELECT AVG(SQRT(cost)) FROM visits", "SQRT(cost)", "SQRT is not supported; functions of columns are ABS"),
    Refused("SELECT AVG(LOG(cost)) FROM visits", "LOG(cost)", "LOG is not supported; functions of columns are"),
    Refused("SELECT AVG(cost / age) FROM visits", "cost / age", "divides by a value that may be zero"),
    Refused("SELECT AVG(cost / 0) FROM visits", "cost / 0", "divides by zero; divide by another constant"),
    Refused("SELECT COUNT(*) FROM visits WHERE CAST(clinic AS INT) = 1", "CAST(clinic AS INT)", "CAST"),
    Refused("SELECT AVG(MONTH(age)) FROM visits", "MONTH(age)", "MONTH takes a date, but age is a number"),
    Refused("SELECT MONTH(clinic), COUNT(*) FROM visits GROUP BY MONTH(clinic)", "MONTH(clinic)", "is categorical"),
    Refused(
        "SELECT COUNT(*) FROM visits WHERE YEAR(pain) = 2026", "YEAR(pain)", "YEAR takes a date, but pain is a number"
    ),
    Refused("SELECT HOUR(admitted), COUNT(*) FROM visits GROUP BY HOUR(admitted)", "HOUR(admitted)", "takes a time"),
    Refused("SELECT DAYOFWEEK(admitted), COUNT(*) FROM visits GROUP BY 1", "DAYOFWEEK(admitted)", "write WEEKDAY(day)"),
    Refused(
        "SELECT DATE_TRUNC('decade', admitted), COUNT(*) FROM visits GROUP BY 1",
        "DATE_TRUNC('decade', admitted)",
        "year, quarter, month, week",
    ),
    Refused("SELECT UPPER(age), COUNT(*) FROM visits GROUP BY UPPER(age)", "UPPER(age)", "UPPER takes text"),
    Refused("SELECT AVG(clinic) FROM visits", "clinic", "clinic is categorical, and this needs a column with bounds"),
    Refused("SELECT SUM(clinic + 1) FROM visits", "clinic + 1", "is categorical"),
    Refused("SELECT SUM(admitted) FROM visits", "admitted", "holds dates"),
    Refused("SELECT SUM(DISTINCT cost) FROM visits", "DISTINCT cost", "leave DISTINCT out"),
    Refused("SELECT AVG(age, cost) FROM visits", "cost", "AVG cannot take 2 arguments"),
    Refused("SELECT QUANTILE(age) FROM visits", "QUANTILE(age)", "takes a column and a level"),
    Refused("SELECT QUANTILE(age, 90) FROM visits", "90", "above 0 and below 1"),
    Refused("SELECT HISTOGRAM(age, 0) FROM visits", "0", "bins must be from 1 to"),
    Refused("SELECT HISTOGRAM(clinic, 3) FROM visits", "3", "is categorical, so each category is a bin"),
    Refused("SELECT CDF(clinic) FROM visits", "clinic", "clinic is categorical"),
    Refused("SELECT CORR(age, age) FROM visits", "CORR(age, age)", "takes two different columns"),
    Refused("SELECT LAG(age) OVER (ORDER BY day) FROM visits", "age", "looks at single rows"),
    Refused("SELECT COUNT(*) OVER () FROM visits", "COUNT(*)", "looks at single rows"),
    Refused(
        "SELECT clinic, MEDIAN(COUNT(*)) OVER () FROM visits GROUP BY clinic", "MEDIAN(COUNT(*))", "is not supported"
    ),
]

CONDITIONS = [
    Refused("SELECT COUNT(*) FROM visits WHERE age", "age", "is not true or false; compare it"),
    Refused("SELECT COUNT(*) FROM visits WHERE clinic > 'm'", "clinic > 'm'", "is categorical and has no order"),
    Refused("SELECT COUNT(*) FROM visits WHERE age = 'old'", "'old'", "age"),
    Refused("SELECT COUNT(*) FROM visits WHERE age LIKE '6%'", "age LIKE '6%'", "holds no text"),
    Refused("SELECT COUNT(*) FROM visits WHERE admitted > 'soon'", "'soon'", "holds dates"),
    Refused("SELECT COUNT(*) FROM visits WHERE admitted > '2026-02-30'", "'2026-02-30'", "not a date of the calendar"),
    Refused("SELECT COUNT(*) FROM visits WHERE age > clinic", "age > clinic", "has no order; compare it with = or <>"),
    Refused("SELECT COUNT(*) FROM visits WHERE 1 = 0", "1 = 0", "is true of no row"),
    Refused(
        "SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)",
        "(SELECT AVG(age) FROM visits)",
        "looks at other people's rows",
    ),
    Refused(
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM prescriptions)",
        "EXISTS (SELECT 1 FROM prescriptions)",
        "could belong to two units",
    ),
    Refused("SELECT COUNT(*) FROM visits WHERE AVG(age) > 50", "AVG(age)", "AVG"),
    Refused(
        "SELECT COUNT(*) FROM visits WHERE clinic SIMILAR TO 'n.*'", "clinic SIMILAR TO 'n.*'", "is not a condition"
    ),
    Refused("SELECT COUNT(*) FROM visits WHERE age = NULL", "NULL", "write IS NULL"),
    Refused("SELECT COUNT(*) FROM visits WHERE urgent IS 5", "5", "IS takes NULL, TRUE or FALSE"),
]

GROUPS = [
    Refused("SELECT cost, COUNT(*) FROM visits GROUP BY cost", "cost", "more than 1000 possible values to group by"),
    Refused("SELECT pain, COUNT(*) FROM visits GROUP BY pain", "pain", "ask for a histogram with bins"),
    Refused("SELECT pain * 2, COUNT(*) FROM visits GROUP BY 1", "pain * 2", "ask for a histogram with bins"),
    Refused("SELECT clinic, COUNT(*) FROM visits GROUP BY 3", "3", "is not the position of anything selected"),
    Refused("SELECT COUNT(*) FROM visits GROUP BY clinic, clinic", "clinic", "appears twice in GROUP BY"),
    Refused("SELECT COUNT(*) FROM visits GROUP BY ROLLUP()", "", "ROLLUP takes columns, got none"),
    Refused(
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (REST())", "REST", "REST() needs sets of columns beside it"
    ),
    Refused(
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((sex), (), REST(sex))",
        "REST(sex)",
        "REST() takes no columns",
    ),
    Refused(
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((sex), REST(), REST())", "REST", "REST() appears twice"
    ),
    Refused("SELECT sex, COUNT(*) FROM visits GROUP BY sex, REST()", "REST", "REST() stands in GROUPING SETS"),
    Refused("SELECT COUNT(*) FROM visits GROUP BY ROLLUP(sex, REST())", "REST", "REST() stands in GROUPING SETS"),
    Refused("SELECT CDF(age), sex FROM visits GROUP BY sex", "sex", "CDF covers all rows at once"),
    Refused("SELECT age FROM visits GROUP BY age", "age", "would show values of rows"),
    Refused("SELECT COUNT(*), COUNT(*) FROM visits", "COUNT(*)", "appears twice"),
]

SHOWN = [
    Refused(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING age > 5", "age", "is not a column of the answer"
    ),
    Refused(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY cost", "cost", "is not a column of the answer"
    ),
    Refused(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic = 'east'",
        "'east'",
        "is not a category of clinic",
    ),
    Refused(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*)",
        "COUNT(*)",
        "is not a condition on released values",
    ),
    Refused(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY 5",
        "5",
        "is not the position of anything selected",
    ),
    Refused("SELECT COUNT(*) FROM visits LIMIT -1", "-1", "LIMIT takes a whole number, 0 or more"),
    Refused("SELECT COUNT(*) FROM visits LIMIT 2.5", "2.5", "LIMIT takes a whole number, 0 or more"),
    Refused("SELECT COUNT(*) + clinic FROM visits GROUP BY clinic", "clinic", "a number is needed here"),
    Refused("SELECT COUNT(*) + age FROM visits", "age", "is not in GROUP BY"),
    Refused("SELECT 1 FROM visits", "1", "measures are"),
    Refused("SELECT COUNT(*) FROM visits QUALIFY COUNT(*) > 1", "COUNT(*) > 1", "QUALIFY"),
]

RELATED = [
    Refused(
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON visits.admitted = prescriptions.started",
        "visits.admitted = prescriptions.started",
        "could belong to two units; join it ON",
    ),
    Refused("SELECT COUNT(*) FROM visits JOIN prescriptions USING (cost)", "cost", "could belong to two units"),
    Refused(
        "SELECT COUNT(*) FROM visits JOIN prescriptions USING (patient)",
        "patient",
        "ON visits.patient = prescriptions.taker",
    ),
    Refused(
        "SELECT COUNT(*) FROM visits CROSS JOIN prescriptions", "prescriptions", "which rows of prescriptions match"
    ),
    Refused("SELECT COUNT(*) FROM visits, prescriptions", "prescriptions", "which rows of prescriptions match"),
    Refused(
        "SELECT COUNT(*) FROM visits FULL JOIN prescriptions ON visits.patient = prescriptions.taker",
        "prescriptions",
        "FULL JOIN is not supported",
    ),
    Refused(
        "SELECT COUNT(*) FROM visits RIGHT JOIN clinics ON visits.clinic = clinics.name",
        "clinics",
        "RIGHT JOIN is not supported",
    ),
    Refused(
        "SELECT COUNT(*) FROM visits JOIN clinics ON visits.ward = clinics.name", "visits.ward = clinics.name", "ward"
    ),
    Refused("SELECT COUNT(*) FROM visits JOIN staff USING (patient)", "staff", "there is no table 'staff'"),
    Refused(
        "SELECT COUNT(*) FROM visits JOIN visits USING (patient)", "visits", "give one of them another name with AS"
    ),
    Refused(
        "SELECT AVG(n) FROM visits JOIN (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) AS t USING (clinic)",
        "clinic",
        "write GROUP BY patient",
    ),
    Refused(
        "SELECT AVG(n) FROM (SELECT patient, clinic, COUNT(*) AS n FROM visits GROUP BY patient)",
        "clinic",
        "may differ between the rows",
    ),
    Refused("SELECT AVG(n) FROM (SELECT patient, COUNT(*) FROM visits GROUP BY patient)", "COUNT(*)", "needs a name"),
    Refused(
        "SELECT AVG(m) FROM (SELECT patient, MEDIAN(age) AS m FROM visits GROUP BY patient)",
        "MEDIAN(age)",
        "cannot be computed per unit",
    ),
    Refused(
        "SELECT AVG(s) FROM (SELECT patient, LEAST(SUM(cost * 1.2345678), 500) AS s FROM visits GROUP BY patient)",
        "LEAST(SUM(cost * 1.2345678), 500)",
        "or round what is added up, as in SUM(ROUND(cost * 1.2345678, 1))",
    ),
    Refused(
        "SELECT AVG(s) FROM (SELECT patient, SUM(admitted) AS s FROM visits GROUP BY patient)",
        "SUM(admitted)",
        "holds dates, which have no sum",
    ),
    Refused(
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits WHERE ages > 3 GROUP BY patient)",
        "ages",
        "has no column 'ages'",
    ),
    Refused(
        "SELECT AVG(age) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
        "age",
        "has no column 'age'; it has n",
    ),
    Refused(
        "SELECT COUNT(*) FROM (SELECT patient FROM visits UNION SELECT taker FROM prescriptions)",
        "(SELECT patient FROM visits UNION SELECT taker FROM prescriptions)",
        "a subquery must be one SELECT",
    ),
]

STATEMENTS = [
    Refused("SELECT COUNT(*) FROM visits; SELECT 2", "", "one statement at a time, got 2"),
    Refused("DROP TABLE visits", "visits", "only SELECT is supported"),
    Refused("UPDATE visits SET age = 1", "visits SET age = 1", "only SELECT is supported"),
    Refused(
        "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM prescriptions",
        "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM prescriptions",
        "UNION is not supported; write UNION ALL",
    ),
    Refused("SELECT COUNT(*)", "", "SELECT needs FROM"),
    Refused("SELECT COUNT(* FROM visits", "", "not SQL"),
    Refused(
        "SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT",
        "visits TABLESAMPLE 10",
        "FROM takes the name of the dataset",
    ),
    Refused(
        "SELECT COUNT(*) FROM read_csv('visits.csv')", "read_csv('visits.csv')", "FROM takes the name of the dataset"
    ),
    Refused("how many visits are there?", "", "not SQL"),
]

REFUSED = [*NAMES, *UNITS, *FUNCTIONS, *CONDITIONS, *GROUPS, *SHOWN, *RELATED, *STATEMENTS]
