"""Questions by different groups, written as one: which can be, and what each of them then shows."""

from __future__ import annotations

import pytest

from inbounds.publish.groupings import Grouped, Joined


def read(sql: str) -> Grouped:
    """Read a question that can be asked with others."""
    grouped = Grouped.read(sql)
    assert grouped is not None
    return grouped


def test_each_question_shows_its_own_grouping() -> None:
    """The groupings are the same text for all; HAVING leaves the rows of one, and the rest stays as it was."""
    several = [
        read(
            "SELECT clinic, COUNT(*) AS n FROM visits -- all\nWHERE age > 3 GROUP BY clinic ORDER BY n DESC LIMIT 2;"[
                :-1
            ]
        ),
        read("select count( * ) from VISITS where AGE > 3"),
        read(
            "SELECT MONTH(day) AS month, COUNT(*) FROM visits WHERE age > 3 GROUP BY month HAVING COUNT(*) > 5 OR 1 = 1"
        ),
    ]
    assert len({grouped.counts for grouped in several}) == 1
    joined = Joined.of(several)
    assert [joined.place(grouped) for grouped in several] == [0, 1, 2]
    sets = "GROUP BY GROUPING SETS ((clinic), (), (MONTH(day)), REST())"
    assert joined.show(several[0], rest=True).split("\n") == [
        "SELECT clinic, COUNT(*) AS n",
        "FROM visits",
        "WHERE age > 3",
        sets,
        "HAVING (clinic) IS NOT NULL AND (MONTH(day)) IS NULL",
        "ORDER BY n DESC",
        "LIMIT 2",
    ]
    assert joined.show(several[1], rest=True).split("\n")[-1] == "HAVING (clinic) IS NULL AND (MONTH(day)) IS NULL"
    assert joined.show(several[2], rest=True).split("\n")[-1] == (
        "HAVING (clinic) IS NULL AND (MONTH(day)) IS NOT NULL AND (COUNT(*) > 5 OR 1 = 1)"
    )
    assert sets.replace(", REST()", "") in joined.show(several[0], rest=False)
    assert joined.show_all(several[2], rest=True) == (
        f"SELECT clinic, MONTH(day), COUNT(*)\nFROM visits\nWHERE age > 3\n{sets}"
    )


def test_the_same_groups_have_no_rest() -> None:
    """Questions by the same columns, in any order, are one grouping: no other column could be missing."""
    several = [
        read("SELECT clinic, sex, COUNT(*) FROM visits GROUP BY clinic, sex"),
        read("SELECT COUNT(*), SEX FROM visits GROUP BY SEX, clinic ORDER BY 1"),
    ]
    assert Joined.of(several).group_by(rest=True) == "GROUP BY GROUPING SETS ((clinic, sex))"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT clinic, AVG(age) FROM visits GROUP BY clinic",
        "SELECT clinic, COUNT(*), SUM(age) FROM visits GROUP BY clinic",
        "SELECT clinic, COUNT(*) FILTER (WHERE age > 3) FROM visits GROUP BY clinic",
        "SELECT COUNT(DISTINCT patient) FROM visits",
        "SELECT clinic FROM visits GROUP BY clinic",
        "SELECT MODE(clinic), COUNT(*) FROM visits",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY 1",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY ALL",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), ())",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING RANK() OVER (ORDER BY COUNT(*)) <= 3",
        "SELECT DISTINCT clinic, COUNT(*) FROM visits GROUP BY clinic",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits",
        "WITH old AS (SELECT * FROM visits) SELECT COUNT(*) FROM old",
        "SELECT COUNT(*)",
        "SELECT 'COUNT(*)' FROM visits",
        "SELECT COUNT(*) FROM visits WHERE clinic = 'open",
        "GROUP BY clinic",
        "",
    ],
)
def test_what_is_not_certainly_a_count_or_a_sum_is_left_alone(sql: str) -> None:
    """Other measures, several of them, other forms of groups, and what is no plain SELECT are asked by themselves."""
    assert Grouped.read(sql) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM stays"),
        ("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE age > 3"),
        ("SELECT COUNT(*) FROM visits WHERE clinic = 'north'", "SELECT COUNT(*) FROM visits WHERE clinic = 'NORTH'"),
        ("SELECT SUM(age) FROM visits", "SELECT SUM(minutes) FROM visits"),
        ("SELECT SUM(age) FROM visits", "SELECT COUNT(*) FROM visits"),
    ],
)
def test_other_counts_are_told_apart(one: str, other: str) -> None:
    """Another table, condition or measure counts something else."""
    assert read(one).counts != read(other).counts


def test_what_is_shown_of_counts_makes_no_difference() -> None:
    """Ranks, shares and rounded numbers of one count are the same count."""
    plain = read("SELECT COUNT(*) FROM visits")
    shown = read(
        "SELECT clinic, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share, RANK() OVER (ORDER BY COUNT(*)) "
        "FROM visits GROUP BY clinic QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*)) < 3"
    )
    assert plain.counts == shown.counts
    assert (plain.has_windows, shown.has_windows) == (False, True)
