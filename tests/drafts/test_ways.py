"""Drafted taxonomies: which way is guessed, what the trees say, and that labels tell the truth about their leaves."""

import re
from collections import Counter
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from schema.sentences import sentence
from unveil.drafts import WAYS, draft
from unveil.errors import TableError, TaxonomyError
from unveil.schema import Node, Taxonomy

PLAIN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(lambda text: text != "⊥")
COLUMNS = st.one_of(
    st.lists(PLAIN, min_size=1, max_size=30),
    st.lists(st.integers(-(10**6), 10**6).map(str), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False).map(str), min_size=1, max_size=20),
    st.lists(st.dates().map(str), min_size=1, max_size=30),
    st.lists(st.text("01ab*", min_size=4, max_size=4), min_size=1, max_size=30),
    st.lists(st.sampled_from(["DE", "FR", "USA", "Peru", "Group 1", "Any x", "Europe", "x"]), min_size=1),
)


def column(*values: object, name: str = "x") -> pa.Table:
    return pa.table({name: pa.array(values)})


def tree(taxonomy: Taxonomy) -> list[str]:
    """The lines of the tree without the mark."""
    return str(taxonomy).splitlines()[1:]


def inner(taxonomy: Taxonomy) -> list[Node]:
    return [node for node in taxonomy.root.walk() if node.children and node is not taxonomy.root]


# ---- Every draft ----


@settings(deadline=None)
@given(values=COLUMNS, by=st.sampled_from([None, *WAYS]))
def test_the_leaves_are_the_values_whatever_the_way(values: list[str], by: str | None) -> None:
    table = pa.table({"x": pa.array(values, pa.string())})
    try:
        taxonomy = unveil.draft_taxonomy(table, "x", by, missing=[])
    except TableError:
        assert by not in (None, "frequency")
        return
    assert Counter(taxonomy.leaves) == Counter(set(values))
    assert len(set(taxonomy.labels)) == len(taxonomy.labels)
    assert all(len(node.children) > 1 for node in inner(taxonomy)), "a label that groups nothing"
    assert taxonomy.observed is not None


@pytest.mark.parametrize(
    ("values", "name", "by"),
    [
        (["2021-03-05", "2021-04-01"], "x", "dates"),
        (["5.3.2021", "1.4.2021"], "x", "dates"),
        (["2021-03-05T10:00:00Z", "2021-03-05 11:30"], "x", "dates"),
        ([date(2021, 3, 5), date(2021, 4, 1)], "x", "dates"),
        (["20210305", "20210401"], "x", "dates"),
        (["20219905", "20210401"], "x", "numbers"),
        (["2021-03", "2020-12"], "x", "dates"),
        (["2021", "2020"], "x", "numbers"),
        (["2021-02-30", "2021-01-01"], "x", "prefix"),
        (["01234", "11235", "11236"], "x", "prefix"),
        (["51234", "11235", "11236"], "zip", "prefix"),
        (["51234", "11235", "11236"], "x", "numbers"),
        (["A12", "A13", "B11"], "x", "prefix"),
        ([1, 2, 30], "x", "numbers"),
        (["1e3", "-0.5"], "x", "numbers"),
        (["1", "2", "inf"], "x", "frequency"),
        (["Germany", "France", "atlantis", "United-States"], "x", "countries"),
        (["DE", "FR", "CH"], "x", "countries"),
        (["CA", "NY", "TX"], "x", "countries"),
        (["FR-75C", "DE-BY"], "x", "countries"),
        (["Male", "Female"], "x", "frequency"),
        ([True, False], "x", "frequency"),
    ],
)
def test_the_way_that_is_guessed(values: list[object], name: str, by: str) -> None:
    assert draft(column(*values, name=name), name).by == by


def test_missing_values_are_not_leaves_and_are_counted() -> None:
    found = draft(column("a", "?", None, "NA", "b", "?"), "x")
    assert found.taxonomy.leaves == ("a", "b")
    assert (found.values.missing, found.values.missing_rows) == (("?", "NA"), 4)


def test_marks_of_missing_values_can_be_named() -> None:
    found = draft(column("DE", "NA", "x", None), "x", missing=["x"])
    assert set(found.taxonomy.leaves) == {"DE", "NA"}
    assert (found.values.missing, found.values.missing_rows) == (("x",), 2)


@pytest.mark.parametrize(
    ("values", "by", "problem"),
    [
        (["a", "b"], "dates", "cannot be drafted by dates: the value 'a' is not a date."),
        (["2021-01-01", "1.1.2021"], "dates", "cannot be drafted by dates: the values are dates of different forms."),
        (["a", "bc"], "prefix", "cannot be drafted by prefix: 'a' and 'bc' are not of the same length."),
        (["a", "b"], "prefix", "cannot be drafted by prefix: no two codes begin alike."),
        (["a" * 41], "prefix", "is longer than 40 characters."),
        (["1", "a"], "numbers", "cannot be drafted by numbers: the value 'a' is not a number."),
        (["nan"], "numbers", "all values are missing, so there is nothing to draft a taxonomy from."),
        (["atlantis"], "countries", "no value is the name or the code of a country, a US state or a subdivision."),
    ],
)
def test_a_way_that_does_not_fit(values: list[str], by: str, problem: str) -> None:
    message = sentence(TableError, lambda: draft(column(*values), "x", by))
    assert message.startswith("table: column 'x': ")
    assert message.endswith(problem)


def test_a_value_that_looks_suppressed_is_refused() -> None:
    message = sentence(TaxonomyError, lambda: draft(column("a", "⊥"), "x"))
    assert message == "table: column 'x': the label '⊥' is reserved for suppressed values."


def test_unknown_names() -> None:
    assert "did you mean 'dates'?" in sentence(TaxonomyError, lambda: draft(column("a"), "x", "date"))
    assert "frequency." in sentence(TaxonomyError, lambda: draft(column("a"), "x", "zzz"))
    assert "did you mean 'xyz'?" in sentence(TableError, lambda: draft(column("a", name="xyz"), "xy"))


def test_labels_that_are_values_are_told_apart() -> None:
    taxonomy = unveil.draft_taxonomy(column("120", "121", "130", "12*", "Any x"[:3], "12* (group)"[:3]), "x", "prefix")
    assert "12* (group)" in taxonomy.inner_labels
    assert "12*" in taxonomy.leaves
    root = unveil.draft_taxonomy(column("Any x", "Any x (group)", "b"), "x").root
    assert root.label == "Any x (group 2)"


# ---- Dates ----


def test_days_months_years_and_decades() -> None:
    taxonomy = unveil.draft_taxonomy(column("1999-12-31", "1999-12-30", "1999-01-01", "1998-05-05", "2001-01-01"), "x")
    assert tree(taxonomy) == [
        "Any x",
        "  1990s",
        "    1998-05-05",
        "    1999",
        "      1999-01-01",
        "      1999-12",
        "        1999-12-30",
        "        1999-12-31",
        "  2001-01-01",
    ]


def test_moments_are_grouped_by_day_first() -> None:
    taxonomy = unveil.draft_taxonomy(column("5.3.2021 10:00", "5.3.2021 11:00", "06.03.2021 9:00"), "x")
    assert tree(taxonomy)[1:] == ["  2021-03-05", "    5.3.2021 10:00", "    5.3.2021 11:00", "  06.03.2021 9:00"]


def test_a_day_label_differs_from_a_day_that_is_a_value() -> None:
    moments = ("2021-03-05 10:00", "2021-03-05 11:00", "2021-03-05")
    taxonomy = unveil.draft_taxonomy(column(*moments), "x")
    assert set(taxonomy.leaves) == set(moments)
    assert taxonomy.leaves_of("2021-03-05 (group)") == moments[:2]


def test_years_are_dates_if_asked() -> None:
    assert tree(unveil.draft_taxonomy(column("1999", "1998", "2001"), "x", "dates"))[1:] == [
        "  1990s",
        "    1998",
        "    1999",
        "  2001",
    ]


def test_a_doubtful_form_is_said() -> None:
    assert draft(column("03/04/2021", "05/06/2021"), "x").reason.endswith("month/day/year fits as well")
    assert "month/day/year" in draft(column("03/14/2021", "05/06/2021"), "x").reason


@settings(deadline=None)
@given(st.lists(st.dates(date(1900, 1, 1), date(2030, 1, 1)), min_size=1, max_size=40))
def test_every_label_of_dates_holds_its_days_and_no_others(days: list[date]) -> None:
    taxonomy = unveil.draft_taxonomy(column(*map(str, days)), "x", "dates")
    for node in inner(taxonomy):
        if " … " in node.label:  # a run of neighbours, which holds what these hold
            continue
        start = node.label[:3] if node.label.endswith("s") else node.label
        assert set(taxonomy.leaves_of(node.label)) == {str(day) for day in days if str(day).startswith(start)}


# ---- Numbers ----


@settings(deadline=None)
@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=60))
def test_every_interval_holds_its_numbers_and_no_others(numbers: list[object]) -> None:
    texts = {str(number) for number in numbers}
    taxonomy = unveil.draft_taxonomy(column(*texts), "x", "numbers")
    for node in inner(taxonomy):
        match = re.fullmatch(r"\[(.+), (.+)\)", node.label)
        assert match is not None
        lo, hi = map(Fraction, match.groups())
        assert re.fullmatch(r"[15]0*", str((hi - lo) * 1000)), "the width is not round"
        assert lo % (hi - lo) == 0
        assert set(taxonomy.leaves_of(node.label)) == {text for text in texts if lo <= Fraction(text) < hi}


def test_ages() -> None:
    found = draft(column(*range(17, 91)), "x")
    assert found.reason == "all 74 values are numbers from 17 to 90; the intervals have widths of 5, 10, 50"
    assert [child.label for child in found.taxonomy.root.children] == ["[0, 50)", "[50, 100)"]
    assert found.taxonomy.leaves == tuple(map(str, range(17, 91)))


def test_numbers_far_apart() -> None:
    taxonomy = unveil.draft_taxonomy(column("1e-300", "1", "2", "1e300", "1.7e308", "-1.7e308"), "x")
    assert set(taxonomy.leaves) == {"1e-300", "1", "2", "1e300", "1.7e308", "-1.7e308"}


# ---- Prefixes ----


def test_one_character_after_the_other_is_hidden() -> None:
    taxonomy = unveil.draft_taxonomy(column("01001", "01002", "01101", "02001", "02002"), "x")
    assert tree(taxonomy) == [
        "Any x",
        "  01***",
        "    0100*",
        "      01001",
        "      01002",
        "    01101",
        "  0200*",
        "    02001",
        "    02002",
    ]


@settings(deadline=None)
@given(st.sets(st.text("0123", min_size=5, max_size=5), min_size=2))
def test_every_prefix_holds_its_codes_and_no_others(codes: set[str]) -> None:
    try:
        taxonomy = unveil.draft_taxonomy(column(*codes), "x", "prefix")
    except TableError:
        assert len({code[:1] for code in codes}) == len(codes)
        return
    for node in inner(taxonomy):
        assert len(node.label) == 5
        start = node.label.rstrip("*")
        assert set(taxonomy.leaves_of(node.label)) == {code for code in codes if code.startswith(start)}


# ---- Frequency ----


def test_frequent_values_stand_near_the_top() -> None:
    counts = {"often": 60, "also": 20, "third": 6, "d": 5, "e": 4, "f": 3, "g": 1, "h": 1}
    table = column(*(value for value, count in counts.items() for _ in range(count)))
    assert tree(unveil.draft_taxonomy(table, "x", "frequency"))[:4] == ["Any x", "  also", "  often", "  Group 1"]


@settings(deadline=None)
@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(1, 1000), min_size=2, max_size=60))
def test_a_value_that_a_quarter_of_the_rows_hold_lies_near_the_top(counts: dict[str, int]) -> None:
    table = column(*(value for value, count in counts.items() for _ in range(count)))
    taxonomy = unveil.draft_taxonomy(table, "x", "frequency", missing=[])
    total = sum(counts.values())
    for value, count in counts.items():
        above = [node for node in taxonomy.root.walk() if node.children and value in taxonomy.leaves_of(node.label)]
        if 4 * count >= total:
            assert above == [taxonomy.root]
    assert all(len(node.children) <= 4 for node in taxonomy.root.walk())


def test_many_values_that_occur_once_make_a_balanced_tree() -> None:
    taxonomy = unveil.draft_taxonomy(column(*(f"name {i}" for i in range(4**5))), "x")
    assert taxonomy.depth == 6
