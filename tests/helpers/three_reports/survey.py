"""A survey, made up: 2,000 answers, the same every time, some without an age group, and categories hard to write."""

from __future__ import annotations

import csv
from pathlib import Path

RESPONDENTS = 2000
REGIONS = ("north", "=south", "o'west", '<b>"centre"</b>', "east, and beyond")
AGES = ("under 18", "18 to 39", "40 to 64", "65 and over")
TOPICS = ("staff", "waiting time", "food", "prices")

CONTRACT = f"""
[dataset]
name = "answers"
source = "answers.csv"
unit = "respondent"
max_rows_per_unit = 1

[columns.region]
keys = ["north", "=south", "o'west", '<b>"centre"</b>', "east, and beyond"]
[columns.age_group]
keys = {list(AGES)}
[columns.satisfaction]
bounds = "[0, 10] step 1"
[columns.would_return]
keys = ["yes", "no"]
[columns.topic]
keys = {list(TOPICS)}
[columns.weight]
bounds = "[0, 1] step 0.05"

[budget]
total = 3
"""

REPORT = """\
-- report: survey
-- title: What 2,000 people say
-- description: Asked in autumn, by post.
-- edition: 2026
-- total: 3

-- name: answers
SELECT COUNT(*) AS answers FROM answers;

-- name: by_region
SELECT region, COUNT(*) AS answers FROM answers GROUP BY region ORDER BY answers DESC;

-- name: by_age_group
-- chart: bars
SELECT age_group, COUNT(*) AS answers FROM answers GROUP BY age_group;

-- name: by_region_and_age_group
-- weight: 4
SELECT region, age_group, COUNT(*) AS answers FROM answers GROUP BY region, age_group;

-- name: shares
SELECT region, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share FROM answers GROUP BY region;

-- name: importance
-- title: How much each topic weighs
-- weight: 3
SELECT topic, SUM(weight) AS weight FROM answers GROUP BY topic;

-- name: all_importance
SELECT SUM(weight) AS weight FROM answers;

-- name: satisfaction
-- epsilon: 0.5
SELECT age_group, AVG(satisfaction) AS mean, COUNT(*) AS answers FROM answers GROUP BY age_group;

-- name: would_return
-- weight: 2
SELECT region, PROPORTION(would_return = 'yes') AS would_return FROM answers GROUP BY region;

-- name: typical
-- epsilon: 0.25
SELECT MEDIAN(satisfaction) AS satisfaction FROM answers;
"""


def build(folder: Path) -> Path:
    """Write the answers and the contract into a folder, and return the path of the contract."""
    with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["respondent", "region", "age_group", "satisfaction", "would_return", "topic", "weight"])
        writer.writerows(_answer(number) for number in range(RESPONDENTS))
    contract = folder / "survey.toml"
    contract.write_text(CONTRACT, encoding="utf-8")
    return contract


def _answer(number: int) -> list[object]:
    mixed = number * 2654435761 % 2**32 // 7
    age = "" if mixed % 11 == 0 else AGES[mixed // 11 % 4]
    satisfaction = max(mixed % 11, mixed // 13 % 11)
    would_return = "yes" if satisfaction + mixed // 17 % 5 > 6 else "no"
    return [
        number, REGIONS[(mixed % 101) ** 2 // 2041], age, satisfaction, would_return, TOPICS[mixed // 19 % 4],
        mixed // 23 % 21 / 20,
    ]  # fmt: skip
