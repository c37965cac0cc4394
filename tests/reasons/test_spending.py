"""Where the budget of a private release goes, and that nothing is spent or given away by asking."""

from fractions import Fraction
from math import exp

import pytest

import unveil
from noise.private import PrivateProject, no_draws
from project import Project
from unveil.evaluation.protocol import Holdout
from unveil.reasons.spending import expected_noise, spending_of
from unveil.workflow.evaluate import DRAWN, OWNERS
from unveil.workflow.explain import FROM_RELEASE

TWICE = Holdout(seeds=(0, 1))


@pytest.fixture
def private(project: Project) -> PrivateProject:
    return PrivateProject(project)


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "3"])
def test_expected_noise_is_the_sum_over_all_noise(epsilon: str) -> None:
    alpha = exp(-float(Fraction(epsilon)))
    summed = sum(2 * z * (1 - alpha) / (1 + alpha) * alpha**z for z in range(1, 2000))
    assert expected_noise(Fraction(epsilon)) == pytest.approx(summed)


def test_the_shares_are_those_of_the_ledger(private: PrivateProject) -> None:
    release = unveil.publish(private.spec, unsafe_seed=3)
    found = spending_of([release])
    assert sum(found.purposes.values()) == pytest.approx(1)
    counts = Fraction(release.manifest.ledger[-1].epsilon)
    assert found.purposes["counts of the cells"] == pytest.approx(float(counts / Fraction(1, 2)))
    assert found.noise == expected_noise(counts)
    assert found.cells == release.manifest.cells
    assert found.records == sum(release.table["count"].to_pylist())
    refined = {name for name, draws in found.refined.items() if draws}
    assert refined == {name for name in release.masking.columns if len(set(release.table[name].to_pylist())) > 1}
    assert set(found.unrefined) == set(release.masking.columns) - refined


def test_explaining_draws_nothing_that_is_private(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    no_draws(monkeypatch)
    before = private.files()
    found = unveil.explain(private.spec, protocol=TWICE)
    assert private.files() == before
    assert found.cuts == ()
    assert found.steps is None
    assert found.spending is not None
    assert found.spending.seeded
    assert found.notes == (OWNERS, DRAWN)
    assert {price.relaxation.key for price in found.prices} == {"epsilon", "specializations"}
    assert all(price.accuracy["tree"].n == 2 for price in found.prices)


def test_of_a_release_only_what_it_says_is_reported(private: PrivateProject) -> None:
    unveil.publish(private.spec, unsafe_seed=1).write(private.release)
    one = unveil.explain(private.spec, release=private.release, shadow=False)
    rows = private.table.read_text().splitlines()
    private.table.write_text("\n".join([*rows[:9], rows[-2]]) + "\n")
    other = unveil.explain(private.spec, release=private.release, shadow=False)
    assert one.to_dict() == other.to_dict()
    assert one.spending is not None
    assert one.spending.sentences() == other.spending.sentences()
    assert one.notes == (FROM_RELEASE,)


def test_with_prices_the_figures_are_the_owners(private: PrivateProject) -> None:
    unveil.publish(private.spec, unsafe_seed=1).write(private.release)
    found = unveil.explain(private.spec, release=private.release, protocol=TWICE)
    assert found.notes == (FROM_RELEASE, OWNERS, DRAWN)


def test_attributes_that_got_no_specialization_are_named(private: PrivateProject) -> None:
    private.edit(private.spec, "specializations = 3", "specializations = 1")
    release = unveil.publish(private.spec, unsafe_seed=1)
    found = unveil.explain(private.spec, release=release, shadow=False).spending
    assert found is not None
    assert len(found.unrefined) == 3
    assert any(all(name in line for name in found.unrefined) for line in found.sentences())
