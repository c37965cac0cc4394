"""Under differential privacy a query chooses columns and rows of one table, each row by itself; all else is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import unveil
from commands import Run, refused
from noise.private import PrivateProject
from project import Project
from unveil.errors import TableError
from unveil.schema import Query
from unveil.tables import open_source
from unveil.tables.projections import DIGITS, FLOATS, TOTAL, TOTAL_FOR_FLOATS, foreign_part

QUERY = "select age, job, town, income, ill from people"
STATEMENTS = (
    "create table people as from read_csv('{csv}', all_varchar = true, header = true)",
    "create table numbers as select try_cast(age as integer) as age, try_cast(income as double) as income, job, town, "
    "ill, try_cast(income as decimal(9, 2)) as paid, date '2024-01-01' as seen from people",
    "create table grown (age integer, twice integer generated always as (age * 2) virtual)",
    "create view adults as select * from people where age > '3'",
    "create view shares as select age, job, town, ill, max(income) over () as income from people",
    "create macro lower(x) as (select max(income) from people)",
    "create macro tripled(x) as x || x || x",
    "create macro all_of() as table select * from people",
    'create macro json_serialize_plan(x) as \'{{"error": false, "plans": []}}\'',
    "create sequence counter",
)


@pytest.fixture
def private(project: Project) -> PrivateProject:
    """The private spec of the little table, with a query instead of the file."""
    private = PrivateProject(project)
    with duckdb.connect(str(private.folder / "people.duckdb")) as connection:
        for statement in STATEMENTS:
            connection.execute(statement.format(csv=private.table))
    private.edit(private.spec, 'source  = "people.csv"', f"source = 'people.duckdb'\nquery = '''{QUERY}'''")
    private.edit(private.spec, '[attributes.name]\nrole = "identifier"\n', "")
    return private


ALLOWED = [
    QUERY,
    "select * exclude (name) from people where town <> 'Bergen' and ill in ('yes', 'no')",
    "select age, system.main.lower(job) as job, trim(town) as town, income, ill from people where not (age is null)",
    "select try_cast(age as integer) as age, job, town, income, coalesce(ill, 'no') as ill from people",
    "select try(cast(age as integer) + 1 - 1) as age, job, town, income, ill from people where income like '1%'",
    "select case when age = '20' then '21' else age end as age, job, town, income, ill from people",
    "select age, job, town, income - 0.5 as income, ill from numbers where seen >= '2023-01-01' and paid > 5",
    "select age, job, town, income, ill from numbers where age between 3 and 70 and age > 4.5",
    "select * exclude (name) from adults",
    "select age, left(job, 9) as job, town, income, ill from (select * from people where town > 'A') as t",
]


@pytest.mark.parametrize("query", ALLOWED)
def test_a_choice_of_columns_and_rows_is_published(query: str, private: PrivateProject, run: Run) -> None:
    private.edit(private.spec, QUERY, query)
    outcome = run("publish", private.spec, "--to", private.release)
    assert (outcome.code, outcome.err) == (0, "")
    assert run("verify", private.release, "--raw", private.spec).code == 0


REST = "job, town, income, ill from"
ATTACKS = {
    "the share of the highest income": (
        f"select least(99, cast(100.0 * age / max(age) over () as int)) as age, {REST} numbers",
        "a window function",
    ),
    "a rank": (f"select rank() over (order by age) as age, {REST} people", "a window function"),
    "the first of each town": (f"{QUERY} qualify row_number() over (partition by town) = 1", "a window function"),
    "a view with a window": (f"select age, {REST} shares", "a window function"),
    "an aggregate": ("select max(age) as age, job, town, income, ill from people group by all", "an aggregate"),
    "a macro that hides an aggregate": (f"select lower(age) as age, {REST} people", "a join or a subquery"),
    "a macro of a table": (f"select age, {REST} all_of() limit 3", "LIMIT or OFFSET"),
    "a scalar subquery": (f"{QUERY} where age = (select max(age) from people)", "a join or a subquery"),  # noqa: S608
    "a subquery in a list": (f"{QUERY} where town in (select town from numbers)", "a join or a subquery"),  # noqa: S608
    "exists": (f"{QUERY} p where exists (select 1 from people q where q.age > p.age)", "subquery"),  # noqa: S608
    "a join": ("select p.* from people p join numbers n on p.town = n.town", "a join or a subquery"),
    "a cross product": ("select p.* from people p, numbers n", "a join or a subquery"),
    "a positional join": ("select p.* from people p positional join numbers n", "a join or a subquery"),
    "a lateral join": ("select p.* from people p, lateral (select p.age || '1' as b) t", "LATERAL"),
    "a union": (f"{QUERY} union all {QUERY}", "UNION"),
    "except": (f"{QUERY} except {QUERY} where age = '20'", "DISTINCT"),
    "with": (f"with p as ({QUERY}) from p", "WITH"),
    "a recursive with": (f"with recursive p as ({QUERY} union all {QUERY} where false) from p", "WITH"),
    "distinct": (f"select distinct age, {REST} people", "DISTINCT"),
    "distinct on": (f"select distinct on (town) age, {REST} people", "DISTINCT"),
    "a limit": (f"{QUERY} limit 10", "LIMIT or OFFSET"),
    "an offset": (f"{QUERY} offset 10", "LIMIT or OFFSET"),
    "the last by order": (f"{QUERY} order by age desc limit 10", "LIMIT"),
    "an order": (f"{QUERY} order by age", "ORDER BY"),
    "a sample": (f"{QUERY} using sample 10", "a sample"),
    "a sample of the table": (f"{QUERY} tablesample 10%", "a sample"),
    "several rows from one": (f"select unnest(['20', '30']) as age, {REST} people", "unnest"),
    "numbers of rows": (f"select rowid as age, {REST} people", "rowid"),
    "numbers of rows to choose by": (f"{QUERY} where rowid < 3", "rowid"),
    "no table": ("select '20' as age, 'baker' as job, 'Cork' as town, 1 as income, 'no' as ill", "no table"),
    "values": ("from (values ('20', 'baker', 'Cork', 1, 'no')) t(age, job, town, income, ill)", "no table"),
    "a table function": ("select range as age from range(10)", "the table function 'range'"),
    "the catalog": ("from duckdb_tables()", "the table function 'duckdb_tables'"),
    "chance": (f"{QUERY} where random() < 0.5", "the function 'random'"),
    "the clock": (f"select case when now() > '2024-01-01' then age end as age, {REST} people", "the function 'now'"),
    "the calendar": (f"{QUERY} where current_date > '2024-01-01'", "the function 'current_date'"),
    "an age by the clock": (f"select age(seen::timestamp) as age, {REST} numbers", "the function 'age'"),
    "a sequence": (f"select nextval('counter') as age, {REST} people", "the function 'nextval'"),
    "an identifier drawn": (f"select uuid() as age, {REST} people", "the function 'uuid'"),
    "a setting": (f"select current_setting('threads') as age, {REST} people", "the function 'current_setting'"),
    "a function that nobody listed": (f"select hash(age) as age, {REST} people", "the function 'hash'"),
    "a list": (f"select [age] as age, {REST} people", "the function 'list_value'"),
    "a deliberate error": (
        f"select case when age = '20' then error('he is in') else age end as age, {REST} people",
        "the function 'error'",
    ),
    "a cast that can fail": (f"select age::integer as age, {REST} people", "a cast to INTEGER", "try_cast"),
    "a cast in the condition": (f"{QUERY} where age::integer > 30", "a cast to INTEGER", "try_cast"),
    "a cast of a decimal": (f"select paid::tinyint as age, {REST} numbers", "a cast to TINYINT"),
    "a cast to json": (f"select age::json as age, {REST} people", "a cast to VARCHAR"),
    "a cast to an enum": (f"select age::enum('20', '30') as age, {REST} people", "a cast to ENUM"),
    "a cast to a list": (f"select try_cast(age as integer[]) as age, {REST} people", "a cast to LIST"),
    "a sum that can overflow": (f"select age + 1 as age, {REST} numbers", "'+' without try(…)"),
    "a remainder by zero": (f"select 7 % age as age, {REST} numbers", "'%' without try(…)"),
    "a cut by another column": (f"select left(town, age) as age, {REST} numbers", "'left' without try(…)"),
    "a cut too far": (f"select left(town, 5000000000) as age, {REST} numbers", "'left' without try(…)"),
    "a generated column that can overflow": ("select twice as age from grown", "'*' without try(…)"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_anything_else_is_refused_in_a_sentence_that_names_it(name: str, private: PrivateProject, run: Run) -> None:
    query, *words = ATTACKS[name]
    private.edit(private.spec, QUERY, query)
    refused(private, run, ["people.duckdb", "under differential privacy", "each row by itself", *words])


@pytest.mark.parametrize("condition", ["seen >= '2024-13-01'", "seen::varchar = '' and seen < 'x'"])
def test_a_constant_that_does_not_fit_is_refused_whether_a_row_meets_it_or_not(
    condition: str, private: PrivateProject, run: Run
) -> None:
    query = f"select age, {REST} numbers where {condition}"
    private.edit(private.spec, QUERY, query)
    refused(private, run, ["people.duckdb", "cannot be run", "date field"])


def test_a_query_that_is_given_next_to_a_private_spec_is_checked_too(private: PrivateProject) -> None:
    query = Query(private.folder / "people.duckdb", f"{QUERY} limit 10")
    with pytest.raises(TableError, match="but this one has LIMIT"):
        unveil.publish(query, private.spec, unsafe_seed=1)


def test_refinement_takes_any_select(private: PrivateProject) -> None:
    source = open_source(Query(private.folder / "people.duckdb", f"{QUERY} order by age limit 10"))
    assert source.rows() == 10


def test_a_plan_in_another_form_is_refused(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other versions of DuckDB have: both sides of a comparison under names of their own."""
    monkeypatch.setattr(
        "unveil.tables.projections.json.loads",
        lambda text: {
            "error": False,
            "plans": [
                {
                    "type": "LOGICAL_PROJECTION",
                    "children": [{"type": "LOGICAL_GET"}],
                    "expressions": [
                        {"expression_class": "BOUND_COMPARISON", "type": "COMPARE_EQUAL", "left": {}, "right": {}}
                    ],
                }
            ],
        },
    )
    query = Query(private.folder / "people.duckdb", QUERY, by_row=True)
    with pytest.raises(TableError, match="compare equal"):
        open_source(query)


EXTREMES = {
    "VARCHAR": ["''", "'x'", "'⊥'", "'%_\\'", "null", "chr(0) || 'a'", "'9999999999999999999999'", "repeat('é', 999)"],
    "INTEGER": ["0", "-2147483648", "2147483647", "null"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "TINYINT": ["-128", "127"],
    "SMALLINT": ["-32768", "32767"],
    "BOOLEAN": ["true", "false", "null"],
    "DOUBLE": ["'nan'", "'inf'", "'-inf'", "1e308", "-1e308", "5e-324", "0", "-0.0", "null"],
    "FLOAT": ["'nan'", "'-inf'", "3e38", "1e-45"],
    "DECIMAL(38, 2)": ["-999999999999999999999999999999999999.99", "0"],
    "DATE": ["'infinity'", "'-infinity'", "'5881580-07-10'", "'5877642-06-25 (BC)'", "'2024-02-29'", "null"],
    "TIMESTAMP": ["'infinity'", "'-infinity'", "'294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'"],
    "TIMESTAMP WITH TIME ZONE": ["'infinity'", "'2024-01-01 00:00:00+14'", "'290309-12-23 (BC) 00:00:00+00'"],
}


TEXT_CALLS = [
    *(f"{name}(a)" for name in ("lower", "upper", "trim", "ltrim", "rtrim", "length")),
    *(f"{name}(a, b)" for name in ("contains", "prefix", "suffix", "starts_with", "ends_with")),
    "position(b in a)",
    *(f"{name}(a, b)" for name in ("concat", "concat_ws", "least", "greatest")),
    *(f"a {sign} b" for sign in ("like", "not like", "ilike", "not ilike", "glob", "||")),
    *("replace(a, b, a)", "replace(a, b, '')", "replace(a, a, b)", "left(a, 2)", "right(a, -2147483647)"),
    *("substring(a, 2147483647, -2147483647)", "substring(a, -9)"),
]
TIME_CALLS = [f"{part}(a)" for part in ("year", "quarter", "month", "day", "dayofweek", "isodow", "dayofyear", "hour")]
TIME_CALLS += ["minute(a)"]
FLOAT_CALLS = [*(f"a {sign} b" for sign in "+-*/"), *(f"{name}(a)" for name in ("-", "abs", "floor", "ceil", "round"))]
CALLS = {
    "VARCHAR": TEXT_CALLS,
    "DOUBLE": FLOAT_CALLS,
    "FLOAT": FLOAT_CALLS,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), TIME_CALLS),
}
CASTS = [f"cast(a as {type_})" for type_ in [*DIGITS, *FLOATS, "DECIMAL(38, 2)", "DECIMAL(12, 2)", "VARCHAR", "DATE"]]


def test_what_passes_without_try_fails_for_no_value(tmp_path: Path) -> None:
    """Each function and cast that the check lets through is run on the ends of its types."""
    passed: set[str] = set()
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        for type_, values in EXTREMES.items():
            rows = ", ".join(f"(cast({value} as {type_}))" for value in values)
            connection.execute(
                f"create or replace table ends as select x.v as a, y.v as b "  # noqa: S608
                f"from (values {rows}) x(v), (values {rows}) y(v)"
            )
            for call in [*CALLS.get(type_, ()), *CASTS]:
                query = f"select {call} as y, a from ends"  # noqa: S608
                if foreign_part(connection, query) is None:
                    connection.sql(query).to_arrow_table()
                    passed.add(f"{call} of {type_}")
                else:
                    assert call in CASTS, call
    assert {f"cast(a as {wide}) of {narrow}" for wide, narrow in WIDENINGS} <= passed
    assert {call for call in passed if call.startswith("cast(a as TINYINT)")} == {
        "cast(a as TINYINT) of TINYINT",
        "cast(a as TINYINT) of BOOLEAN",
    }
    listed = {name for name in TOTAL | TOTAL_FOR_FLOATS if name.isalpha()}
    assert listed <= {call.partition("(")[0] for calls in CALLS.values() for call in calls} | {"concat_ws"}


WIDENINGS = [
    ("DOUBLE", "INTEGER"),
    ("FLOAT", "BIGINT"),
    ("BIGINT", "INTEGER"),
    ("DECIMAL(12, 2)", "INTEGER"),
    ("VARCHAR", "TIMESTAMP WITH TIME ZONE"),
    ("DATE", "TIMESTAMP"),
]
