"""A query to a DuckDB database in the place of a file: the same release, read-only, one sentence for what is wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import unveil
from commands import Run, refused
from project import Project
from unveil.errors import TableError
from unveil.schema import Query
from unveil.tables import files, open_source

QUERY = "select * from people"
FIGURES = "(i * 7) % 60 + 20 as age, ['Aarhus', 'Bergen', 'Cork'][i % 3 + 1] as town, (i * 7) % 60 > 30 as ill"


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def people(project: Project) -> Path:
    """The little table as text, like the csv file that it is."""
    table = f"create table people as from read_csv('{project.table}', all_varchar = true, header = true)"
    return database(project.folder / "people.duckdb", table)


def queried(project: Project, query: str = QUERY) -> Path:
    """The spec of the little table, with a query instead of the file."""
    people(project)
    project.edit(project.spec, 'source  = "people.csv"', f"source = 'people.duckdb'\nquery = '''{query}'''")
    return project.spec


def spec(**table: Any) -> dict[str, Any]:
    return {
        "table": {"class": "ill", **table},
        "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
    }


def same(one: unveil.Release, other: unveil.Release) -> None:
    assert one.trace == other.trace
    assert one.manifest == other.manifest
    assert one.table.schema == other.table.schema
    assert one.table.to_pylist() == other.table.to_pylist()


def test_every_verb_reads_a_query_as_it_reads_a_file(project: Project, run: Run) -> None:
    from_file = unveil.publish(project.spec)
    queried(project)
    same(unveil.publish(project.spec), from_file)
    assert run("check", project.spec).code == 0
    assert run("publish", project.spec, "--to", project.release).code == 0
    verified = run("verify", project.release, "--raw", project.spec)
    assert (verified.code, verified.err) == (0, "")
    assert run("evaluate", project.spec, "--classifier", "tree").code == 0
    assert run("explain", project.spec).code == 0


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_types_come_as_they_do_from_parquet(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 7)
    columns = (
        f"{FIGURES}, (i % 5)::hugeint as huge, (i / 4)::decimal(9, 2) as paid, "
        "date '2024-01-01' + (i % 9)::int as seen, "
        "timestamp '2024-01-01 10:00' + interval 1 hour * (i % 9) as at, (i % 4)::utinyint as small, "
        "timestamptz '2024-01-01 22:00+00' + interval 1 hour * (i % 9) as instant, time '10:00' as clock, "
        "['low', 'high'][i % 2 + 1]::enum('low', 'mid', 'high') as grade, "
        "case when i % 4 = 0 then null else 'x' end as gap"
    )
    path = database(tmp_path / "people.duckdb", f"create table people as select {columns} from range(60) r(i)")  # noqa: S608
    with duckdb.connect(str(path)) as connection:
        connection.execute("set TimeZone = 'UTC'")
        table = connection.sql(QUERY).to_arrow_table()
    grade = table["grade"].cast(pa.string())
    pa.parquet.write_table(table.set_column(table.column_names.index("grade"), "grade", grade), tmp_path / "p.parquet")
    asked = spec(others="release")
    asked["attributes"] |= {"huge": {"kind": "number"}, "paid": {"kind": "number"}, "grade": {"kind": "category"}}
    asked["attributes"] |= {"at": {"kind": "date"}, "instant": {"kind": "date"}}
    asked["require"][0]["quasi-identifier"] += ["paid", "grade", "at", "instant"]
    mine = unveil.publish(asked | {"table": asked["table"] | {"source": str(path), "query": QUERY}}, engine=engine)
    same(mine, unveil.publish(tmp_path / "p.parquet", asked, engine="memory"))


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_the_order_of_the_rows_does_not_matter(engine: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 5)
    expected = unveil.publish(project.spec)
    queried(project, "select * from people order by hash(name || '1')")
    same(unveil.publish(project.spec, engine=engine), expected)


def test_the_zone_of_the_machine_does_not_matter(tmp_path: Path) -> None:
    instants = "timestamptz '2024-01-01 18:00+00' + interval 1 hour * (i % 12) as at"
    path = database(tmp_path / "p.duckdb", f"create table people as select {FIGURES}, {instants} from range(60) r(i)")  # noqa: S608
    asked = spec(source=str(path), query='select *, "at"::date::varchar as day from people')
    asked["attributes"] |= {"at": {"kind": "date"}, "day": {"kind": "category"}}
    code = f"import unveil; print(unveil.publish({asked!r}).table.to_pylist())"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"TZ": zone, "PYTHONPATH": ":".join(sys.path)},
            text=True,
            capture_output=True,
            check=True,
        ).stdout
        for zone in ("UTC", "Asia/Kolkata", "America/Los_Angeles")
    }
    assert len(found) == 1


def test_names_that_duckdb_takes_for_one_are_kept_apart(tmp_path: Path) -> None:
    query = """select i % 3 as "a", i % 7 as "A", i % 2 as "odd ""name"".中" from range(30) r(i) -- and no more"""
    source = open_source(Query(database(tmp_path / "p.duckdb"), query))
    assert source.schema.names == ["a", "A", 'odd "name".中']
    table = source.table(['odd "name".中', "A"])
    assert table.column_names == ['odd "name".中', "A"]
    assert table["A"].to_pylist() == [place % 7 for place in range(30)]
    assert sum(batch.num_rows for batch in source.batches(["a"])) == source.rows() == 30


def test_rows_are_streamed_and_only_the_columns_asked_for_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BATCH", 100_000)
    text = "select i as a, case when i > 9_000_000 then error('too far') else i end as b from range(9_900_000) r(i)"
    source = open_source(Query(database(tmp_path / "p.duckdb"), text))
    assert sum(batch.num_rows for batch in source.batches(["a"])) == 9_900_000
    first = next(iter(source.batches(["b"])))
    assert 0 < first.num_rows <= 200_000
    with pytest.raises(TableError, match="too far"):
        list(source.batches(["a", "b"]))


def test_nobody_can_write_while_it_is_read(tmp_path: Path) -> None:
    path = database(tmp_path / "p.duckdb", "create table people as select 1 as a")
    source = open_source(Query(path, QUERY))
    code = f"import duckdb; duckdb.connect({str(path)!r}).execute('drop table people')"
    writer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Conflicting lock" in writer.stderr
    assert source.table(["a"]).to_pylist() == [{"a": 1}]


def test_a_query_that_answers_differently_each_time_is_refused_by_the_engine_that_reads_twice(project: Project) -> None:
    queried(project, "select * replace (case when random() < 0.5 then 'baker' else 'smith' end as job) from people")
    with pytest.raises(TableError, match="the source changed while it was being read"):
        unveil.publish(project.spec, engine="stream")


def test_a_query_that_pairs_values_differently_each_time_is_refused_though_it_has_as_many_of_each(
    project: Project,
) -> None:
    queried(
        project,
        "with kept as (select * from people where age <> '?'), "
        "a as (select *, row_number() over () as place from kept), "
        "c as (select job, random() as chance from kept), "
        "b as (select job, row_number() over (order by chance) as place from c) "
        "select a.* exclude (place) replace (b.job as job) from a join b using (place)",
    )
    with pytest.raises(TableError, match="changed while it was being read, or gave its rows in another order"):
        unveil.publish(project.spec, engine="stream")
    unveil.publish(project.spec, engine="memory")


def test_a_query_without_order_gives_its_rows_in_the_same_order_each_time(tmp_path: Path) -> None:
    path = database(
        tmp_path / "p.duckdb",
        "create table people as select i % 150_000 as who, hash(i) % 40 as age, 't' || hash(3 * i) % 9 as town, "
        "hash(7 * i) % 2 as ill from range(300_000) r(i)",
    )
    query = "select who, max(age) as age, min(town) as town, max(ill) as ill from people group by who"
    asked = spec(source=str(path), query=query)
    asked["attributes"]["who"] = {"role": "identifier"}
    # The rows that are not released are chosen by their place among the others.
    release = unveil.publish(asked | {"publish": {"learn": "20%"}}, engine="stream")
    assert release.to_pandas(intervals="text").astype(str).groupby(["age", "town"]).size().min() >= 3
    source = open_source(Query(path, query))
    first, second = (pa.concat_tables(source.batches(["who"])) for _ in range(2))
    assert first.equals(second)


def test_nothing_is_written_next_to_the_release(project: Project) -> None:
    queried(project)
    before, content = project.files(), (project.folder / "people.duckdb").read_bytes()
    unveil.publish(project.spec, engine="stream").write(project.release)
    after = {name for name in project.files() if not name.startswith("release")}
    assert (after, (project.folder / "people.duckdb").read_bytes()) == (before, content)


def test_a_first_spec_from_a_query(project: Project, run: Run) -> None:
    path, draft = people(project), project.folder / "draft.toml"
    query = "select * exclude (income) from people where \"town\" <> 'x'"
    assert run("init", path, "--query", query, "--to", draft).code == 0
    content = tomllib.loads(draft.read_text())
    assert content["table"]["source"] == "people.duckdb"
    assert content["table"]["query"] == query
    assert set(content["attributes"]) == {"name", "age", "job", "town"}
    assert "taxonomy draft" not in draft.read_text()
    assert run("check", draft).code == 0


REFUSED = {
    "COPY": "copy people to 'stolen.csv'",
    "INSERT": "insert into people select * from people",
    "ATTACH": "attach 'other.duckdb'",
    "PRAGMA": "pragma version",
    "SET": "set threads = 1",
    "CREATE": "create table other as select 1",
    "DROP": "drop table people",
    "EXPLAIN": "explain select 1",
}

Spoil = Callable[[Project], object]


def query(text: str) -> Spoil:
    return lambda project: project.edit(project.spec, QUERY, text)


CASES: dict[str, tuple[Spoil, list[str]]] = {
    **{kind: (query(text), ["people.duckdb", kind, "only a SELECT"]) for kind, text in REFUSED.items()},
    "several statements": (query("select 1; select 2"), ["people.duckdb", "2 statements", "one SELECT"]),
    "no statement": (query("-- nothing"), ["people.duckdb", "0 statements"]),
    "an empty query": (query("  "), ["people.toml", "query is empty"]),
    "bad sql": (query("selec name"), ["people.duckdb", "cannot be run", 'syntax error at or near "selec"']),
    "a missing table": (query("select * from peple"), ["people.duckdb", "peple does not exist", "people"]),
    "a missing column": (query("select nme from people"), ["people.duckdb", '"nme"', "not found"]),
    "a cast that fails": (
        query("select * replace (age::int as age) from people"),
        ["people.duckdb", "Could not convert string '?' to INT32"],
    ),
    "a parameter": (query("select * from people where age = ?"), ["people.duckdb", "Values were not provided"]),
    "another file": (query("select * from read_csv('people.csv')"), ["people.duckdb", "Cannot access file"]),
    "a variable of the program": (query("select * from project"), ["people.duckdb", "project does not exist"]),
    "a column twice": (query("select *, age from people"), ["people.duckdb", "'age'", "twice"]),
    "bytes": (query("select * replace (age::blob as age) from people"), ["people.duckdb", "'age'", "binary"]),
    "lists": (query("select * replace ([age] as age) from people"), ["people.duckdb", "'age'", "list"]),
    "a span of time": (
        query("select * replace (interval 1 day as town) from people"),
        ["people.duckdb", "'town'", "interval"],
    ),
    "a time with a zone": (
        query("select * replace ('10:00:00+01'::timetz as town) from people"),
        ["people.duckdb", "'town'", "TIME WITH TIME ZONE"],
    ),
    "a column that is not there": (query("select * exclude (town) from people"), ["people.duckdb", "'town'"]),
    "no rows": (query("select * from people where false"), ["people.duckdb", "no rows"]),
    "no such file": (
        lambda project: (project.folder / "people.duckdb").unlink(),
        ["people.duckdb", "no such database file"],
    ),
    "not a database": (
        lambda project: (project.folder / "people.duckdb").write_text("name,age\n" * 2000),
        ["people.duckdb", "not a DuckDB database"],
    ),
    "a csv file in its place": (
        lambda project: project.edit(project.spec, "people.duckdb", "people.csv"),
        ["people.csv", "not a DuckDB database"],
    ),
    "a query without a source": (
        lambda project: project.edit(project.spec, "source = 'people.duckdb'\n", ""),
        ["people.toml", "query", "no source"],
    ),
    "a database without a query": (
        lambda project: project.edit(project.spec, f"query = '''{QUERY}'''", ""),
        ["people.toml", "people.duckdb", "a query must select"],
    ),
    "a query that is not text": (
        lambda project: project.edit(project.spec, f"query = '''{QUERY}'''", "query = 1"),
        ["people.toml", "query is 1", "must be text"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name: str, project: Project, run: Run) -> None:
    queried(project)
    spoil, words = CASES[name]
    spoil(project)
    refused(project, run, words)


def test_a_database_that_another_process_writes(project: Project, run: Run) -> None:
    queried(project)
    path = str(project.folder / "people.duckdb")
    code = f"import duckdb, sys; c = duckdb.connect({path!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        refused(project, run, ["people.duckdb", "being written by another process"])
        writer.kill()


def test_a_database_that_this_process_writes(project: Project, run: Run) -> None:
    queried(project)
    with duckdb.connect(str(project.folder / "people.duckdb")):
        refused(project, run, ["people.duckdb", "open in this process already"])


def test_without_duckdb(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    queried(project)
    assert run("publish", project.spec, "--to", project.folder / "made").code == 0
    monkeypatch.setitem(sys.modules, "duckdb", None)
    refused(project, run, ["people.duckdb", "install unveil[duckdb]"])
    outcome = run("verify", project.folder / "made", "--raw", project.spec)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)


def test_spark_cannot_read_it(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    queried(project)
    monkeypatch.setenv("UNVEIL_ENGINE", "spark")
    refused(project, run, ["people.duckdb", "Spark cannot read", "'memory' or 'stream'"])


def test_commands_that_take_no_query_say_so(project: Project, run: Run) -> None:
    path = people(project)
    for words in (["init", path], ["taxonomy", "draft", path, "job"]):
        outcome = run(*words)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert "read through a query" in outcome.err


def test_specs_with_different_queries_are_not_compared(project: Project, run: Run) -> None:
    queried(project)
    other = project.folder / "other.toml"
    other.write_text(project.spec.read_text().replace(QUERY, "from people"))
    outcome = run("compare", project.spec, other)
    assert outcome.code == 2
    assert "its query is not that of" in outcome.err


def test_the_verifier_reads_the_query_by_itself(project: Project) -> None:
    """A release of other rows than those of the query is found out."""
    queried(project)
    unveil.publish(project.spec).write(project.release)
    assert unveil.verify(project.release, project.spec) == []
    project.edit(project.spec, QUERY, "select * from people where name <> 'p7'")
    assert any(finding.claim == "truth" for finding in unveil.verify(project.release, project.spec))
    for text in ("copy people to 'stolen.csv'", "select 1; select 2"):
        project.spec.write_text(project.spec.read_text().replace("select * from people where name <> 'p7'", text))
        with pytest.raises(TableError, match="not a single SELECT"):
            unveil.verify(project.release, project.spec)
        project.edit(project.spec, text, "select * from people where name <> 'p7'")
