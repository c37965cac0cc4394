"""Specs given as mappings: taxonomies as they are, and values that a caller sets before the check."""

from pathlib import Path

import pytest

from unveil.errors import SpecError
from unveil.schema import Spec, Taxonomy, load_spec

JOBS = Taxonomy(("Any", [("Office", [("Clerk", []), ("Manager", [])]), ("Farmer", [])]))


def mapping(taxonomy: object, k: object = 5) -> dict[str, object]:
    return {
        "table": {"class": "outcome"},
        "attributes": {"job": {"kind": "category", "taxonomy": taxonomy}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["job"], "k": k}],
    }


def k_of(spec: Spec) -> object:
    return spec.requirements[0].describe()["k"]


def test_a_taxonomy_takes_the_place_of_its_path():
    assert load_spec(mapping(JOBS)).attributes["job"].taxonomy is JOBS


@pytest.mark.parametrize("taxonomy", [5, ["Any"], {"Any": ["Clerk"]}])
def test_what_is_neither_is_refused(taxonomy):
    with pytest.raises(SpecError, match=r"spec: \[attributes.job\] taxonomy is .*, but it must be text\."):
        load_spec(mapping(taxonomy))


def test_a_change_is_made_before_the_check(tmp_path: Path):
    (tmp_path / "job.tree").write_text("Any\n  Clerk\n  Farmer\n", encoding="utf-8")
    file = tmp_path / "ward.toml"
    file.write_text(
        'table = { class = "outcome" }\n'
        'attributes.job = { kind = "category", taxonomy = "job.tree" }\n'
        'require = [{ kind = "k-anonymity", quasi-identifier = ["job"], k = 5 }]\n',
        encoding="utf-8",
    )

    def with_k(k: int) -> Spec:
        return load_spec(file, lambda content: {**content, "require": [{**content["require"][0], "k": k}]})

    assert k_of(load_spec(file)) == 5
    changed = with_k(9)
    assert k_of(changed) == 9
    assert (changed.is_file, changed.origin, changed.folder) == (True, "ward.toml", tmp_path)
    with pytest.raises(SpecError, match=r"ward\.toml: \[\[require\]\] number 1 k is 0, but it must be at least 1\."):
        with_k(0)


def test_a_change_of_a_mapping():
    content = mapping(JOBS)
    assert k_of(load_spec(content, lambda _: mapping(JOBS, k=7))) == 7
    assert k_of(load_spec(content)) == 5
