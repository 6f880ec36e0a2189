"""From a question to one SQL statement, as a sqlglot expression that every engine renders in its own dialect.

    read     the columns as integers: steps above the least value, places in the list of keys
    kept     the rows that the question is about, with nothing missing
    parts    for each unit and group: how many rows, and their sum
    weighed  the same, beside how many rows the unit has in all groups together
    totals   for each group: the weighed parts, added up

What is read from may itself be made of tables (`relations`): one row for each unit, or rows joined on it, of columns
that are integers already.  If each row is a unit of its own, the rows are added up as they are.  Nothing here can fail
on any row: values are clipped before they are converted, and every integer is small enough for its type.
"""
