"""Places: regions cover every country once, names are recognised in many spellings, and the extra is optional."""

import sys
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pycountry
import pytest

import unveil
from commands import Run
from schema.sentences import sentence
from unveil.drafts import draft
from unveil.drafts.labels import regions, spelled
from unveil.errors import TableError
from unveil.schema import Taxonomy

DATA = Path(str(files("unveil") / "data"))


def countries(*values: str) -> Taxonomy:
    return unveil.draft_taxonomy(pa.table({"x": list(values)}), "x", "countries", missing=[])


def above(taxonomy: Taxonomy, leaf: str) -> list[str]:
    return [node.label for node in taxonomy.root.walk() if node.children and leaf in taxonomy.leaves_of(node.label)][1:]


def test_every_country_of_iso_3166_has_one_place() -> None:
    text = (DATA / "places.toml").read_text(encoding="utf-8")
    world = text.partition("[united-states")[0]
    codes = [word for word in world.replace('"', " ").split() if len(word) == 2 and word.isupper() and word != "US"]
    # TW and US are also in the comments.
    assert sorted(set(codes) | {"US"}) == sorted(country.alpha_2 for country in pycountry.countries)
    assert set(regions()) == {country.alpha_2 for country in pycountry.countries}
    assert [code for code in codes if codes.count(code) > 1] in ([], ["TW", "TW"])


def test_every_us_state_has_one_division() -> None:
    states = [item for item in pycountry.subdivisions if item.country_code == "US" and item.type == "State"]
    taxonomy = countries(*(state.name for state in states), "DC")
    assert len(states) == 50
    assert [child.label for child in taxonomy.root.children] == ["Midwest", "Northeast", "South", "West"]


@pytest.mark.parametrize(
    "name",
    [
        "United-States",
        "united_states",
        "The United States",
        "United States of America",
        "US",
        "USA",
        "840",
        "U.S.A.",
    ],
)
def test_spellings_of_one_country(name: str) -> None:
    assert above(countries(name, "CA", "Peru", "France"), name) == ["Americas", "Northern America"]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Iran", "Southern Asia"),
        ("South Korea", "Eastern Asia"),
        ("Côte d'Ivoire", "Western Africa"),
        ("cote-d-ivoire", "Western Africa"),
        ("Turkey", "Western Asia"),
        ("England", "Northern Europe"),
        ("Trinidad&Tobago", "Caribbean"),
        ("St. Lucia", "Caribbean"),
        ("Laos", "South-eastern Asia"),
        ("Falkland Islands", "South America"),
    ],
)
def test_names_in_common_use(name: str, part: str) -> None:
    # Two more of the same part, so that its label is there.
    more = {
        "Southern Asia": ("IN", "NP"),
        "Eastern Asia": ("CN", "JP"),
        "Western Africa": ("GH", "ML"),
        "Western Asia": ("IQ", "SY"),
        "Northern Europe": ("IE", "SE"),
        "Caribbean": ("CU", "HT"),
        "South-eastern Asia": ("TH", "VN"),
        "South America": ("PE", "BR"),
    }[part]
    assert part in above(countries(name, *more, "CA", "FR", "DE", "AU", "ZA", "EG", "KZ", "MN"), name)


def test_korea_alone_is_not_one_country() -> None:
    assert above(countries("Korea", "Atlantis", "Peru", "France"), "Korea") == ["Not recognised"]


def test_a_region_that_is_also_a_value_is_told_apart() -> None:
    taxonomy = countries("Micronesia", "Guam", "Kiribati", "Fiji", "Vanuatu", "Asia", "Peru", "Chile")
    assert "Micronesia (group)" in taxonomy.inner_labels
    assert "Asia" in taxonomy.leaves


def test_antarctica_is_below_the_root() -> None:
    assert above(countries("AQ", "FR", "DE"), "AQ") == []


def test_states_win_over_countries_with_the_same_codes() -> None:
    found = draft(pa.table({"x": ["CA", "AL", "NY", "TX", "DE"]}), "x")
    assert found.reason == "5 of 5 values are US states"


def test_a_guess_needs_most_values_and_says_how_many() -> None:
    few = pa.table({"x": ["Peru", "France", "a", "b"]})
    assert draft(few, "x").by == "frequency"
    most = pa.table({"x": ["Peru", "France", "Chile", "b"]})
    assert draft(most, "x").reason == "3 of 4 values are countries; 'b' is not recognised"


def test_adult() -> None:
    found = draft(DATA / "adult.parquet", "native-country")
    assert found.reason.startswith("34 of 41 values are countries")
    assert found.values.missing == ("?",)
    assert found.taxonomy.leaves_of("Not recognised") == (
        "Columbia",
        "Holand-Netherlands",
        "Hong",
        "Outlying-US(Guam-USVI-etc)",
        "South",
        "Trinadad&Tobago",
        "Yugoslavia",
    )


def test_spelling_leaves_other_scripts_alone() -> None:
    assert spelled("  Österreich ") == "osterreich"
    assert spelled("日本") == "日本"
    assert spelled("the") == ""


@pytest.fixture
def without_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycountry", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.usefixtures("without_lists")
def test_without_the_lists_another_way_is_taken_and_said() -> None:
    found = draft(pa.table({"x": ["Peru", "France"]}), "x")
    assert found.by == "frequency"
    assert found.reason.endswith("the extra 'countries' (pycountry) is not installed")


@pytest.mark.usefixtures("without_lists")
def test_without_the_lists_countries_cannot_be_asked_for(tmp_path: Path, run: Run) -> None:
    message = sentence(TableError, lambda: draft(pa.table({"x": ["Peru", "France"]}), "x", "countries"))
    assert "not installed" in message
    (tmp_path / "t.csv").write_text("x,y\nPeru,1\nFrance,2\n")
    outcome = run("taxonomy", "draft", tmp_path / "t.csv", "x", "--by", "countries", "--to", tmp_path / "x.tree")
    assert outcome.code == 2
    assert "'countries' (pycountry)" in outcome.err
    assert not (tmp_path / "x.tree").exists()
