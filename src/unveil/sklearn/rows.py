"""Rows, classes and weights from scikit-learn, as one table whose column names are text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from unveil.arrays import FloatArray
from unveil.errors import TableError, rows_text
from unveil.frames import arrow_table, first_line, is_number
from unveil.schema import COUNT, Attribute, Grid, Spec, grid_of, number_text, value_text


def checked_rows(estimator: Any, X: Any, *, reset: bool, missing: bool, least: tuple[int, int] = (1, 1)) -> pa.Table:
    """The rows as an Arrow table, under the names that the transformer knows its columns by.

    Arrays go through all of scikit-learn's checks. A frame may hold any types, so only the names and the number of its
    columns are checked here; its values are checked when they are published or masked.

    `reset` says whether the transformer learns names and number of columns from these rows, `missing` whether NaN may
    mean a missing value in an array, and `least` how many rows and columns an array must have.
    """
    if hasattr(X, "columns"):
        # Only pandas has column names that are not text. Other frames are checked as Arrow tables.
        frame = X if hasattr(X, "set_axis") else arrow_table(X)
        validate_data(estimator, frame, reset=reset, skip_check_array=True)
        names = column_names(estimator)
        return frame.rename_columns(names) if frame is not X else arrow_table(frame.set_axis(names, axis=1))
    array = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan" if missing else True,
        ensure_min_samples=least[0],
        ensure_min_features=least[1],
    )
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # NumPy turns numbers into text in a list of both
    return pa.table({name: _array(array[:, at], name) for at, name in enumerate(column_names(estimator))})


def column_names(estimator: Any, given: Any = None) -> list[str]:
    """The names of the columns: those of the fitted frame, or else those given, or else x0, x1 and so on."""
    return [str(name) for name in _check_feature_names_in(estimator, given)]


def class_labels(y: Any, estimator: str) -> NDArray[Any]:
    """The classes as one array; refuses none, missing ones, numbers to estimate, and several targets."""
    if y is None:
        raise ValueError(
            f"{estimator} requires y to be passed, but the target y is None: rows are masked so that a class can still "
            "be predicted from them."
        )
    if gone := sum(map(_is_missing, np.asarray(y).ravel())):
        raise TableError(f"y has missing values ({rows_text(gone)}), but every row needs its class.")
    if (kind := type_of_target(y, input_name="y", raise_unknown=True)) not in ("binary", "multiclass"):
        raise TableError(
            f"y is {kind}, but {estimator} masks rows so that a class can still be predicted from them; y must hold "
            "one label per row, and numbers must be binned first."
        )
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    return labels


def label_text(label: Any) -> str:
    """A class label as the release writes it; a whole number has no decimal point, whatever its type."""
    plain = label.item() if isinstance(label, np.generic) else label
    return number_text(plain) if isinstance(plain, float) else value_text(plain)


def labels_like(texts: Iterable[str], labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of a release in the type of the fitted ones, or as text if one of them does not fit."""
    if labels.dtype.kind == "b":
        return np.array([text == "true" for text in texts])
    array = np.array(list(texts), dtype=object)
    try:
        return array.astype(labels.dtype) if labels.dtype.kind in "iuf" else array
    except (ValueError, OverflowError):
        return array


def record_counts(sample_weight: Any, rows: pa.Table) -> FloatArray | None:
    """How many records each row represents; None if each represents one."""
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, np.empty((rows.num_rows, 0)), dtype=np.float64)
    return weights


def fresh_name(wish: Any, fallback: str, taken: Iterable[str]) -> str:
    """An unused column name: `wish` if it is free, otherwise one based on the fallback."""
    used = {*taken, COUNT}
    name = wish if isinstance(wish, str) and wish and wish not in used else fallback
    while name in used:
        name += "_"
    return name


def joined(rows: pa.Table, labels: NDArray[Any], weights: FloatArray | None, spec: Spec) -> pa.Table:
    """Rows, classes and weights as the table to publish; rows of weight 0 are dropped."""
    check_consistent_length(rows, labels)
    if spec.table.class_ in rows.column_names:
        raise TableError(
            f"X holds the column {spec.table.class_!r}, which is the class of {spec.origin}; give it as y."
        )
    distinct, places = np.unique(labels, return_inverse=True)
    texts = np.array([label_text(label) for label in distinct], dtype=object)
    table = rows.append_column(spec.table.class_, pa.array(texts[places], pa.string()))
    if weights is None:
        return table
    return table.append_column(str(spec.table.weight), pa.array(weights)).filter(pa.array(weights != 0))


def on_grid(rows: pa.Table, spec: Spec) -> pa.Table:
    """Under differential privacy, numbers rounded to the declared domain: to a step and, if asked, into the range.

    A number between two steps counts as the lower one. Splits are drawn from the steps, so both are always in the same
    interval.
    """
    if spec.plan is None:
        return rows
    for attribute in spec.released:
        grid = grid_of(attribute)
        if grid is not None and attribute.name in rows.column_names and is_number(rows[attribute.name].type):
            numbers = _on_grid(rows[attribute.name].cast(pa.float64()).to_numpy(), attribute, grid)
            place = rows.column_names.index(attribute.name)
            rows = rows.set_column(place, attribute.name, pa.array(numbers, from_pandas=True))
    return rows


def _on_grid(numbers: FloatArray, attribute: Attribute, grid: Grid) -> FloatArray:
    if attribute.step is not None:
        numbers = grid.lowered(numbers)
    if attribute.outside == "clamp":
        numbers = np.clip(numbers, grid.value(0), grid.value(grid.size - 1))
    return numbers


def _is_missing(label: Any) -> bool:
    # The missing value of pandas cannot be compared, not even with itself.
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def _array(column: NDArray[Any], name: str) -> pa.Array:
    """A column of an array; objects get their common type."""
    if column.dtype.kind == "f":
        return pa.array(column.astype(np.float64))
    try:
        return pa.array(column.tolist() if column.dtype.kind in "OUS" else column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"column {name!r}: its values are neither all numbers nor all text: {first_line(error)}."
        ) from error
