"""SQL, read with sqlglot: a closed grammar, and what is outside it is refused with a mark under it.

    [WITH name AS (SELECT ...)] SELECT [keys,] expressions FROM tables [WHERE condition] [GROUP BY keys]
    [HAVING condition] [QUALIFY condition] [ORDER BY expressions] [LIMIT n] [OFFSET n]

Expressions are made of measures, keys, constants and windows over them, by arithmetic, CASE and a few functions; with
HAVING, ORDER BY and LIMIT they act on what is released (`inbounds.query.answer.released`), and cost nothing.

Tables are those of the contract, joined along keys or public ones on anything, and SELECTs in brackets that filter,
compute, or group within a unit.  WHERE may look for rows of the same unit, or public ones, with EXISTS and IN.  Other
spellings are translated first (`inbounds.query.spelling`).

Measures: COUNT(*), COUNT(column), COUNT(DISTINCT unit), COUNT(DISTINCT key), SUM, AVG, VARIANCE and STDDEV and their
forms, COVAR_SAMP, COVAR_POP, CORR, MEDIAN, MIN, MAX, QUANTILE(column, 0.9) or PERCENTILE_CONT / PERCENTILE_DISC (0.9)
WITHIN GROUP (ORDER BY column), AVG(CASE WHEN condition THEN 1 ELSE 0 END) or PROPORTION(condition),
HISTOGRAM(column [, bins]), CDF(column [, bins]).

Whoever adds to the grammar takes every node from the text that is read (`SqlText.take`); what nobody takes is refused.
"""
