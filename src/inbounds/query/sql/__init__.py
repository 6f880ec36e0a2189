"""SQL, read with sqlglot: a closed grammar, and what is outside it is refused with a mark under it.

    SELECT [keys,] expressions FROM table [WHERE condition] [GROUP BY keys]
    [HAVING condition] [ORDER BY expressions] [LIMIT n] [OFFSET n]

Expressions are made of measures, keys and constants, by arithmetic, CASE and a few functions; with HAVING, ORDER BY and
LIMIT they act on what is released (`inbounds.query.answer.released`), and cost nothing.

In place of the table: (SELECT unit, MAX(x) AS m, ... FROM table [WHERE condition] GROUP BY unit) AS name, and JOIN or
LEFT JOIN of private tables on the unit and of public ones by their key.

Measures: COUNT(*), COUNT(column), COUNT(DISTINCT unit), COUNT(DISTINCT key), SUM, AVG, VARIANCE and STDDEV and their
forms, COVAR_SAMP, COVAR_POP, CORR, MEDIAN, MIN, MAX, QUANTILE(column, 0.9) or PERCENTILE_CONT / PERCENTILE_DISC (0.9)
WITHIN GROUP (ORDER BY column), AVG(CASE WHEN condition THEN 1 ELSE 0 END) or PROPORTION(condition),
HISTOGRAM(column [, bins]), CDF(column [, bins]).

Whoever adds to the grammar takes every node from the text that is read (`SqlText.take`); what nobody takes is refused.
"""
