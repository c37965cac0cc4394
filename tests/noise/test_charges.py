"""What the owner's ledger charges: the rows that were read, by whatever spec and under whatever name."""

import json
import os
import stat
import tomllib
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import unveil
from noise.private import PrivateProject, no_draws
from unveil.errors import BudgetError, UnchargedWarning
from unveil.publishers.budget import LEDGER, Identity, read_ledger, spent_on

OTHER = "unrelated.csv"


def content(private: PrivateProject, **table: Any) -> dict[str, Any]:
    """The spec as a mapping, without its source."""
    spec = tomllib.loads(private.spec.read_text())
    del spec["table"]["source"]
    return {**spec, "table": {**spec["table"], **table}}


def budgeted(private: PrivateProject, budget: float, name: str | None = None) -> None:
    named = "" if name is None else f'\nname = "{name}"'
    private.edit(private.spec, 'class   = "ill"', f'class = "ill"\nbudget = {budget}{named}')


def charges(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / LEDGER).read_text())


def test_the_table_that_is_read_is_charged_and_not_the_one_that_the_spec_names(private: PrivateProject) -> None:
    private.edit(private.spec, "people.csv", OTHER)
    (private.folder / OTHER).write_bytes(private.table.read_bytes())
    unveil.publish(private.table, private.spec)
    assert [entry["source"] for entry in charges(private.folder)] == ["people.csv"]


def test_a_budget_bounds_the_table_that_is_read(private: PrivateProject) -> None:
    """The planted overspending: one table published through specs that name another."""
    budgeted(private, 0.5)
    unveil.publish(private.spec)
    private.edit(private.spec, "people.csv", OTHER)
    with pytest.raises(BudgetError, match=r"releases of people\.csv have cost ε = 0\.5"):
        unveil.publish(private.table, private.spec)


def test_a_spec_without_a_source_charges_what_is_read(private: PrivateProject) -> None:
    private.edit(private.spec, 'source  = "people.csv"\n', "")
    unveil.publish(private.table, private.spec)
    assert charges(private.folder) == [{"source": "people.csv", "spec": "people.toml", "epsilon": "1/2"}]


def test_a_link_to_a_table_is_the_table(private: PrivateProject) -> None:
    budgeted(private, 0.5)
    (private.folder / "alias.csv").symlink_to(private.table)
    unveil.publish(private.folder / "alias.csv", private.spec)
    with pytest.raises(BudgetError):
        unveil.publish(private.spec)


def test_a_mapping_is_charged_next_to_the_table(
    private: PrivateProject, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    described = content(private, budget=0.5)
    described["attributes"]["job"]["taxonomy"] = str(private.tree)
    unveil.publish(private.table, described)
    assert charges(private.folder) == [{"source": "people.csv", "spec": "spec", "epsilon": "1/2"}]
    with pytest.raises(BudgetError, match=r"people\.csv"):
        unveil.publish(private.table, described)


def test_a_frame_under_a_budget_needs_a_name(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    budgeted(private, 0.5)
    no_draws(monkeypatch)
    with pytest.raises(BudgetError, match=r"people\.toml: \[table\] budget .* without a path; give them a name"):
        unveil.publish(pd.read_csv(private.table, dtype=str), private.spec)
    assert not private.ledger.exists()


def test_a_frame_with_a_name_is_charged_under_it(private: PrivateProject) -> None:
    budgeted(private, 1, "patients")
    rows = pd.read_csv(private.table, dtype=str)
    unveil.publish(rows, private.spec)
    unveil.publish(rows, private.spec)
    assert [entry["name"] for entry in charges(private.folder)] == ["patients"] * 2
    with pytest.raises(BudgetError, match="releases of 'patients' have cost ε = 1 of the budget 1"):
        unveil.publish(rows, private.spec)


def test_a_name_joins_a_frame_and_a_file(private: PrivateProject) -> None:
    budgeted(private, 0.5, "patients")
    unveil.publish(private.spec)
    with pytest.raises(BudgetError):
        unveil.publish(pd.read_csv(private.table, dtype=str), private.spec)


def test_a_frame_without_a_name_counts_for_every_table_of_the_ledger(private: PrivateProject) -> None:
    """Nobody knows whose rows they were, so the ledger may be too high but not too low."""
    unveil.publish(pd.read_csv(private.table, dtype=str), private.spec)
    assert charges(private.folder) == [{"spec": "people.toml", "epsilon": "1/2"}]
    budgeted(private, 0.5)
    with pytest.raises(BudgetError, match=r"people\.csv have cost ε = 0\.5"):
        unveil.publish(private.spec)


def test_what_no_ledger_counts_is_said(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(private.folder)
    rows = pd.read_csv(private.table, dtype=str)
    before = private.files()
    with pytest.warns(UnchargedWarning, match=r"costs ε = 0\.5 and is not entered in a ledger"):
        unveil.publish(rows, content(private))
    assert private.files() == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unveil.publish(rows, content(private), unsafe_seed=1)
        unveil.publish(rows, content(private, name="patients"))
    assert [entry["name"] for entry in charges(private.folder)] == ["patients"]


def test_an_empty_name_is_refused(private: PrivateProject) -> None:
    with pytest.raises(unveil.SpecError, match=r"\[table\] name is '', but it must not be empty"):
        unveil.load_spec(content(private, name=""))


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (Identity(Path("/a/x.csv")), Identity(Path("/a/x.csv")), True),
        (Identity(Path("/a/x.csv")), Identity(Path("/a/y.csv")), False),
        (Identity(Path("/a")), Identity(Path("/a/y.csv")), True),
        (Identity(Path("/a/x")), Identity(Path("/a/xy")), False),
        (Identity(Path("/a.db"), "main.p"), Identity(Path("/a.db"), "main.q"), False),
        (Identity(Path("/a.db"), "main.p"), Identity(Path("/a.db")), True),
        (Identity(name="p"), Identity(Path("/a/x.csv"), name="p"), True),
        (Identity(name="p"), Identity(name="q"), False),
        (Identity(name="p"), Identity(Path("/a/x.csv")), False),
        (Identity(), Identity(name="q"), True),
    ],
)
def test_who_can_be_in_both(first: Identity, second: Identity, shared: bool) -> None:
    assert first.may_share(second) is shared
    assert second.may_share(first) is shared


QUERY = "select name, age, job, town, income, ill from {}"


@pytest.fixture
def database(private: PrivateProject) -> PrivateProject:
    with duckdb.connect(str(private.folder / "people.duckdb")) as connection:
        connection.execute(f"create table people as from read_csv('{private.table}', all_varchar = true)")
        connection.execute("create table others as from people")
        connection.execute("create view seen as from people")
    private.edit(private.spec, '"people.csv"', f'"people.duckdb"\nquery = "{QUERY.format("people")}"')
    return private


def test_a_query_is_charged_to_the_table_that_it_reads(database: PrivateProject) -> None:
    budgeted(database, 0.5)
    unveil.publish(database.spec)
    assert charges(database.folder)[0] == {
        "source": "people.duckdb",
        "table": "main.people",
        "spec": "people.toml",
        "epsilon": "1/2",
    }
    database.edit(database.spec, "from people", "from others")
    unveil.publish(database.spec)
    database.edit(database.spec, "from others", "from PEOPLE as p where age > '1'")
    with pytest.raises(BudgetError, match=r"main\.people in people\.duckdb have cost ε = 0\.5"):
        unveil.publish(database.spec)


def test_an_entry_of_a_whole_database_counts_for_its_tables(database: PrivateProject) -> None:
    database.ledger.write_text('[{"source": "people.duckdb", "spec": "old.toml", "epsilon": "1/2"}]')
    budgeted(database, 0.5)
    with pytest.raises(BudgetError):
        unveil.publish(database.spec)


def test_the_table_behind_a_view_is_the_one_that_is_read(database: PrivateProject) -> None:
    from unveil.schema import Query
    from unveil.tables import table_read

    path = database.folder / "people.duckdb"
    assert table_read(Query(path, QUERY.format("seen"))) == "main.people"
    assert table_read(Query(path, "select p.* from people p, others")) is None


def shared(private: PrivateProject) -> list[PrivateProject]:
    """Two folders with a spec each, of one table, that share a ledger by links."""
    from project import Project

    folders = []
    (private.folder / "common").mkdir()
    (private.folder / "common" / LEDGER).write_text("[]\n")
    for name in ("one", "two"):
        folder = private.folder / name
        folder.mkdir()
        project = PrivateProject(Project(folder))
        project.ledger.symlink_to(private.folder / "common" / LEDGER)
        project.edit(project.spec, '"people.csv"', '"../people.csv"')
        budgeted(project, 0.5)
        folders.append(project)
    return folders


def test_folders_that_share_a_ledger_by_a_link_share_its_budget(private: PrivateProject) -> None:
    one, two = shared(private)
    unveil.publish(one.spec)
    with pytest.raises(BudgetError, match=r"people\.csv have cost ε = 0\.5"):
        unveil.publish(two.spec)
    assert one.ledger.is_symlink()
    assert two.ledger.is_symlink()
    common = private.folder / "common"
    assert [entry["source"] for entry in charges(common)] == ["../people.csv"]
    assert spent_on(read_ledger(common / LEDGER), Identity(private.table), common) == Fraction(1, 2)


@pytest.mark.parametrize("target", ["nowhere.json", LEDGER, "common"])
def test_a_ledger_that_is_a_link_to_no_file_is_refused(
    target: str, private: PrivateProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    (private.folder / "common").mkdir()
    private.ledger.symlink_to(target)
    no_draws(monkeypatch)
    with pytest.raises(BudgetError, match="ledger"):
        unveil.publish(private.spec)
    assert private.ledger.is_symlink()


def test_a_ledger_with_a_second_name_is_refused(private: PrivateProject) -> None:
    """To replace it would leave the other name with what it said before."""
    unveil.publish(private.spec)
    os.link(private.ledger, private.folder / "second.json")
    with pytest.raises(BudgetError, match="hard links"):
        unveil.publish(private.spec)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_ledger_keeps_its_mode(private: PrivateProject, mode: int) -> None:
    unveil.publish(private.spec)
    private.ledger.chmod(mode)
    unveil.publish(private.spec)
    assert stat.S_IMODE(private.ledger.stat().st_mode) == mode


def test_the_ledger_and_its_folder_are_on_the_disk_before_anything_is_drawn(
    private: PrivateProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def spy(handle: int) -> None:
        found = os.fstat(handle)
        synced.append("folder" if stat.S_ISDIR(found.st_mode) else found.st_size > 0)

    monkeypatch.setattr(os, "fsync", spy)
    no_draws(monkeypatch)
    with pytest.raises(AssertionError):
        unveil.publish(private.spec)
    assert synced == [True, "folder"]
