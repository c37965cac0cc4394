"""Taxonomies from pairs of columns."""

from pathlib import Path

import pyarrow as pa
import pytest

from commands import Run
from unveil.drafts import draft
from unveil.errors import TableError

PLACES = pa.table(
    {
        "city": ["Rome", "Oslo", "Bergen", "Rome", "Turin", None],
        "country": ["Italy", "Norway", "Norway", "Italy", "Italy", "Italy"],
        "side": ["south", "north", "north", "south", "south", "south"],
    }
)


def test_the_labels_above_are_those_of_the_rows() -> None:
    tree = str(draft(PLACES, "city", above=["country"]).taxonomy)
    assert "Any city\n  Italy\n    Rome\n    Turin\n  Norway\n    Bergen\n    Oslo" in tree
    assert draft(PLACES, "city", above=["side", "country"]).taxonomy.leaves == ("Bergen", "Oslo", "Rome", "Turin")


def test_what_makes_no_tree_is_refused(tmp_path: Path, run: Run) -> None:
    twice = pa.concat_tables([PLACES, pa.table({"city": ["Rome"], "country": ["Norway"], "side": ["north"]})])
    with pytest.raises(TableError, match=r"the value 'Rome' is below '(Italy|Norway)' and below"):
        draft(twice, "city", above=["country"])
    with pytest.raises(TableError, match="there is no other column 'contry'; did you mean 'country'"):
        draft(PLACES, "city", above=["contry"])
    file = tmp_path / "places.csv"
    file.write_text("city,country\nRome,Italy\nOslo,Norway\nBergen,Norway\n")
    assert "Norway" in run("taxonomy", "draft", file, "city", "--above", "country").out
    assert run("taxonomy", "draft", file, "city", "--above", "country", "--by", "prefix").code == 2
