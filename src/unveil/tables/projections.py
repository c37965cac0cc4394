"""Queries that treat each row on its own, which differential privacy requires.

ε is about one record of the table that is read. In a query that looks at other rows, such as one with a maximum, one
record of the database can change many rows of the result. So a private query may only select columns and rows of one
table. The check is on the plan that DuckDB makes for the query, where views, macros, generated columns and implicit
casts are resolved. Everything in it must be on a list of what is known to be safe; anything else is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Json = dict[str, Any]

BY_ROW = frozenset({"LOGICAL_PROJECTION", "LOGICAL_FILTER"})
SHAPES = {
    "LOGICAL_WINDOW": "a window function",
    "LOGICAL_AGGREGATE_AND_GROUP_BY": "an aggregate",
    "LOGICAL_DISTINCT": "DISTINCT",
    "LOGICAL_LIMIT": "LIMIT or OFFSET",
    "LOGICAL_TOP_N": "LIMIT or OFFSET",
    "LOGICAL_ORDER_BY": "ORDER BY",
    "LOGICAL_SAMPLE": "a sample",
    "LOGICAL_MATERIALIZED_CTE": "WITH, LATERAL or a subquery",
    "LOGICAL_RECURSIVE_CTE": "WITH",
    "LOGICAL_UNNEST": "unnest",
    "LOGICAL_UNION": "UNION",
    "LOGICAL_DUMMY_SCAN": "no table",
    "LOGICAL_EXPRESSION_GET": "no table",
}
"""Names that owners know for some of the steps that are not allowed."""
CLASSES = frozenset(
    {"BOUND_REF", "BOUND_CONSTANT", "BOUND_FUNCTION", "BOUND_CONJUNCTION", "BOUND_OPERATOR", "BOUND_CASE"}
)
"""The forms of expressions whose parts this module knows how to find."""
CONNECTIVES = frozenset(
    {"BOUND_REF", "VALUE_CONSTANT", "CASE_EXPR", "CONJUNCTION_AND", "CONJUNCTION_OR", "OPERATOR_NOT", "COMPARE_IN"}
    | {"COMPARE_NOT_IN", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE", "OPERATOR_TRY"}
    | {"COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN", "COMPARE_LESSTHANOREQUALTO"}
    | {"COMPARE_GREATERTHANOREQUALTO", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM"}
)
"""Expressions that give a value for every row, if their parts do."""
TOTAL = frozenset(
    {"lower", "upper", "trim", "ltrim", "rtrim", "length", "||", "concat", "concat_ws", "replace"}
    | {"contains", "prefix", "suffix", "starts_with", "ends_with", "position", "~~", "!~~", "~~*", "!~~*", "~~~"}
    | {"least", "greatest", "year", "quarter", "month", "day", "dayofweek", "isodow", "dayofyear", "hour", "minute"}
)
"""Functions that give a value for every row, and the same one each time."""
TOTAL_FOR_FLOATS = frozenset({"+", "-", "*", "/", "abs", "floor", "ceil", "round"})
"""Functions that do so where all their arguments are floats: a whole number or a decimal can overflow."""
CUTS = frozenset({"left", "right", "substring"})
"""Functions that do so where all their arguments but the first are small constants."""
SMALL = 2**31
FALLIBLE = (TOTAL_FOR_FLOATS | CUTS) | frozenset(
    {"//", "%", "sign", "sqrt", "ln", "log10", "exp", "pow", "array_extract", "array_slice"}
    | {"split_part", "date_trunc", "date_diff", "date_part", "week", "second", "strftime", "strptime", "make_date"}
)
"""Functions that give the same value each time, or fail: with `try(…)` around them a failure is a missing value."""
FLOATS = frozenset({"FLOAT", "DOUBLE"})
DIGITS = {"BOOLEAN": 1, "TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19}
"""How many digits the integers of a type can have."""
TYPES = (
    frozenset(DIGITS)
    | FLOATS
    | {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL", "VARCHAR", "DATE", "UUID"}
    | {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME", "ENUM"}
)
"""Types that a value may be cast to."""


def foreign_part(connection: DuckDBPyConnection, query: str) -> str | None:
    """What in a single SELECT is not a selection of columns and rows of one table, row by row; None if nothing.

    An error of DuckDB means that the query cannot be planned, or that a constant in it does not fit.
    """
    # By its full name: the database may hold a macro of the same name.
    found = connection.execute("select system.main.json_serialize_plan(?)", [query]).fetchall()
    answer = json.loads(found[0][0])
    if answer["error"]:
        connection.sql(query)  # says what is wrong, if anything is
        return f"something that DuckDB cannot show the plan of ({answer['error_type']})"
    try:
        return next(_foreign_steps(connection, answer["plans"][0]), None)
    except (KeyError, IndexError, TypeError, ValueError):
        return "a plan of a form that only another version of DuckDB makes"


def _foreign_steps(connection: DuckDBPyConnection, step: Json) -> Iterator[str]:
    """From the last step of the plan down to the scan: first steps that are not a selection, then what it selects."""
    expressions: list[Json] = []
    while (kind := step["type"]) in BY_ROW:
        expressions += step["expressions"]
        (step,) = step["children"]
    if kind != "LOGICAL_GET":
        joins = "JOIN" in kind or "PRODUCT" in kind
        yield SHAPES.get(kind, "a join or a subquery" if joins else _words(kind, "LOGICAL_"))
    for expression in expressions:
        yield from _foreign_expressions(connection, expression, caught=False)
    yield from _foreign_scans(step)


def _foreign_scans(scan: Json) -> Iterator[str]:
    """Only a whole table of the database may be read, in its current state, and no row numbers."""
    if scan["qname"]["path"] != ["seq_scan"] or scan["children"]:
        yield f"the table function {scan['qname']['path'][-1]!r}"
    elif any(column["index"] >= len(scan["names"]) for column in scan["column_indexes"]):
        yield "no column of the table, or numbers of rows (rowid)"
    elif scan["extra_info"]["sample_options"] or scan["at_clause"] or any(scan["table_filters"].values()):
        yield "a scan of a part of the table"


def _foreign_expressions(connection: DuckDBPyConnection, part: Json, *, caught: bool) -> Iterator[str]:
    """What an expression has that looks beyond its row, changes from run to run, or can fail without being caught."""
    kind = part["type"]
    if kind == "OPERATOR_CAST":
        yield from _foreign_casts(connection, part, caught=caught)
    elif kind == "BOUND_FUNCTION":
        yield from _foreign_functions(part, caught=caught)
    elif kind not in CONNECTIVES or part["expression_class"] not in CLASSES:
        yield _words(kind, "BOUND_")
    for below in _parts(part):
        yield from _foreign_expressions(connection, below, caught=caught or kind == "OPERATOR_TRY")


def _parts(part: Json) -> list[Json]:
    if part["expression_class"] in ("BOUND_REF", "BOUND_CONSTANT"):
        return []
    if part["type"] != "CASE_EXPR":
        return list(part["children"])
    checks = [check[side] for check in part["case_checks"] for side in ("when_expr", "then_expr")]
    return [*checks, part["else_expr"]]


def _foreign_functions(part: Json, *, caught: bool) -> Iterator[str]:
    *place, name = part["qname"]["path"]
    if place != ["system", "main"] or name not in TOTAL | FALLIBLE:
        yield f"the function {name!r}"
    elif not caught and not _is_total(name, part):
        yield f"{name!r} without try(…) around it, though it can fail for a single row"


def _is_total(name: str, part: Json) -> bool:
    if name in TOTAL_FOR_FLOATS:
        return {argument["id"] for argument in part["arguments"]} <= FLOATS
    if name in CUTS:
        return all(_is_small(argument) for argument in part["children"][1:])
    return name in TOTAL


def _is_small(argument: Json) -> bool:
    """Whether an argument is a whole number that the query holds, not too far from zero."""
    while argument["type"] == "OPERATOR_CAST":
        (argument,) = argument["children"]
    number = argument["value"].get("value") if argument["type"] == "VALUE_CONSTANT" else None
    return isinstance(number, int) and abs(number) < SMALL


def _foreign_casts(connection: DuckDBPyConnection, part: Json, *, caught: bool) -> Iterator[str]:
    source, target = part["arguments"][0], part["return_type"]
    if target["id"] not in TYPES:
        yield f"a cast to {target['id']}"
    elif caught or part["function_data"]["try_cast"] or _widens(source, target):
        return
    elif part["children"][0]["type"] == "VALUE_CONSTANT" and target["id"] != "ENUM":
        # Whether a constant fits does not depend on the rows, but whether it is evaluated does. So evaluate it here.
        value = part["children"][0]["value"]
        connection.execute(f"select cast(? as {_type_text(target)})", [value.get("value")])
    else:
        yield f"a cast to {_type_text(target)} that can fail for a single row; write try_cast"


def _widens(source: Json, target: Json) -> bool:
    """Whether every value of a type fits another, so that a cast cannot fail."""
    if source == target:
        return True
    if target["id"] == "VARCHAR":
        return target["type_info"] is None  # JSON is text too, but not every text is JSON
    if target["id"] in FLOATS:
        return source["id"] in {"DECIMAL", *DIGITS} or (source["id"], target["id"]) == ("FLOAT", "DOUBLE")
    if target["id"] == "DATE":
        return bool(source["id"] == "TIMESTAMP")
    before, after = _digits(source), _digits(target)
    # An integer with the most digits of its type does not always fit.
    room = after[0] - (target["id"] in DIGITS)
    return 0 < before[0] <= room and before[1] <= after[1]


def _digits(type_: Json) -> tuple[int, int]:
    """How many digits a number of a type can have before the point and after it; none if it is not such a type."""
    if type_["id"] == "DECIMAL":
        width, scale = type_["type_info"]["width"], type_["type_info"]["scale"]
        return width - scale, scale
    return DIGITS.get(type_["id"], 0), 0


def _type_text(type_: Json) -> str:
    info = type_["type_info"]
    return f"DECIMAL({info['width']}, {info['scale']})" if type_["id"] == "DECIMAL" else str(type_["id"])


def _words(kind: str, prefix: str) -> str:
    return kind.removeprefix(prefix).replace("_", " ").lower()
