"""Several SELECTs in one statement, each of which is released: single values, UNION ALL, joins and PIVOT."""
