"""`inbounds explain`: what a question to a table would do, without asking it."""

from __future__ import annotations

from inbounds.cli.extras import open_dataset
from inbounds.cli.options import AsJson, Cost, DatasetFile, Pooling, Sql, chosen_part, number
from inbounds.cli.output import show


def command(sql: Sql, dataset: DatasetFile, epsilon: Cost, pooling: Pooling = None, as_json: AsJson = False) -> None:
    """Say what query would do, without doing it.

    Nothing is spent, and no row is read.

    \b
    Example:
      inbounds explain --dataset clinic.toml --epsilon 0.5 \\
          "SELECT COUNT(*) FROM visits WHERE age >= 65"
    """
    cost, fixed = number(epsilon, "--epsilon"), chosen_part(pooling, "--pooling")
    with open_dataset(dataset) as asked:
        explanation = asked.sql(sql).explain(cost, pooling=fixed)
    show(explanation.data(), str(explanation), as_json=as_json)
