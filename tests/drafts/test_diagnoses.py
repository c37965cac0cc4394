"""Diagnoses: codes of different lengths under their category and chapter, and trees without wide labels."""

import pyarrow as pa
import pytest

import unveil
from unveil.drafts import draft, guess_table
from unveil.drafts.values import WIDE
from unveil.errors import TableError
from unveil.schema import Taxonomy


def drafted(*codes: str, name: str = "diag_1", by: str | None = None) -> Taxonomy:
    return draft(pa.table({name: pa.array(codes)}), name, by).taxonomy


def path(taxonomy: Taxonomy, leaf: str) -> list[str]:
    """The labels above a value, from the top down, the root left out."""
    return [node.label for node in taxonomy.root.walk() if node.children and leaf in taxonomy.leaves_of(node.label)][1:]


NINE = ("8", "10", "038", "110", "250", "250.83", "276.5", "401.9", "414", "V57", "V45.1", "E888", "E909")


def test_chapters_of_icd_9() -> None:
    taxonomy = drafted(*NINE)
    infectious = "001–139 Infectious and parasitic diseases"
    assert path(taxonomy, "10") == path(taxonomy, "110") == [infectious]
    assert path(taxonomy, "250.83")[0].startswith("240–279 Endocrine")
    assert path(taxonomy, "250.83")[-1] == path(taxonomy, "250")[-1] == "250 (group)"
    assert path(taxonomy, "276.5") == path(taxonomy, "250.83")[:1]
    assert path(taxonomy, "V57")[0].startswith("V01–V91")
    assert path(taxonomy, "E888")[0].startswith("E000–E999")


def test_leaves_keep_the_order_of_categories() -> None:
    numbers, letters = NINE[:9], ("E888", "E909", "V45.1", "V57")
    assert drafted(*reversed(NINE)).leaves == numbers + letters


def test_codes_without_dots() -> None:
    taxonomy = drafted("25000", "2501", "4019", "0389", "V571", "E8889", "E8881")
    assert path(taxonomy, "25000") == path(taxonomy, "2501") == ["250"]
    assert path(taxonomy, "E8889") == path(taxonomy, "E8881") != []


def test_chapters_of_icd_10() -> None:
    taxonomy = drafted("I10", "I21.4", "E11.9", "E119", "E10", "D48", "D50.0", "D51", "J45", "J44.1", name="code")
    assert path(taxonomy, "I21.4") == ["I00–I99 Diseases of the circulatory system"]
    assert path(taxonomy, "E11.9")[-1] == path(taxonomy, "E119")[-1] == "E11"
    assert path(taxonomy, "D50.0")[0].startswith("D50–D89")
    assert path(taxonomy, "D48") == []


def test_what_is_not_a_code_is_under_a_label_of_its_own() -> None:
    taxonomy = drafted(*NINE, "odd", "other")
    assert path(taxonomy, "odd") == ["Not recognised"]
    assert draft(pa.table({"diag_1": [*NINE, "odd"]}), "diag_1").reason == (
        "13 of 14 values are codes of ICD-9; 'odd' is not recognised"
    )


@pytest.mark.parametrize(("codes", "name"), [(("250", "401", "414"), "weight"), (("A1", "B2", "C3"), "diag_1")])
def test_other_columns_are_not_diagnoses(codes: tuple[str, ...], name: str) -> None:
    assert draft(pa.table({name: pa.array(codes)}), name).by != "diagnoses"


def test_what_is_asked_for_and_does_not_fit_is_refused() -> None:
    with pytest.raises(TableError, match="no value is a code of ICD-9 or ICD-10"):
        drafted("red", "green", by="diagnoses")


def test_a_wide_label_gets_ranges_of_neighbours() -> None:
    towns = [f"town {number:03d}" for number in range(200)]
    table = pa.table({"town": towns, "region": [f"region {number // 100}" for number in range(200)]})
    taxonomy = draft(table, "town", above=["region"]).taxonomy
    assert sorted(taxonomy.leaves) == towns
    assert all(len(node.children) <= WIDE for node in taxonomy.root.walk())
    assert [child.label for child in taxonomy.root.children] == ["region 0", "region 1"]
    assert taxonomy.root.children[0].children[0].label.startswith("town 000 … ")


def test_init_offers_what_fits() -> None:
    codes = list(NINE) * 40
    towns = [f"town {number % 40}" for number in range(len(codes))]
    table = pa.table(
        {
            "diag_1": codes,
            "number_diagnoses": [str(place % 9) for place in range(len(codes))],
            "town": towns,
            "region": [f"region {int(town[5:]) % 4}" for town in towns],
            "ill": ["yes", "no", "no", "yes"] * (len(codes) // 4),
        }
    )
    guess, _ = guess_table(table)
    found = {item.name: item for item in guess.columns}
    assert (found["diag_1"].role, found["diag_1"].reason) == ("category", "13 codes of ICD-9")
    assert found["number_diagnoses"].role == "number"
    assert guess.above(found["town"]) == "region"


def test_a_release_generalizes_diagnoses() -> None:
    codes = list(NINE) * 20
    table = pa.table({"diag_1": codes, "ill": ["yes" if code in ("8", "10", "110") else "no" for code in codes]})
    spec = {
        "table": {"class": "ill"},
        "attributes": {"diag_1": {"kind": "category", "taxonomy": drafted(*NINE)}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["diag_1"], "k": 50}],
    }
    assert "001–139 Infectious and parasitic diseases" in unveil.publish(table, spec).table["diag_1"].to_pylist()
