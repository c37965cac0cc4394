"""What the transformers have in common: fit publishes the rows, transform masks rows the same way.

The guarantee is about the release, and so about the fitted rows. Rows that are transformed later are masked by the same
cuts, without any guarantee.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unveil.arrays import FloatArray
from unveil.choices import Unseen
from unveil.errors import SpecError, TableError, listed
from unveil.release import Release
from unveil.schema import Spec, SpecLike, load_spec
from unveil.sklearn.descriptions import Section, Sections, TaxonomyLike, attribute_sections, plain, tuned_spec
from unveil.sklearn.encoding import Encoding, Output
from unveil.sklearn.rows import (
    checked_rows,
    class_labels,
    column_names,
    fresh_name,
    joined,
    label_text,
    labels_like,
    on_grid,
    record_counts,
)
from unveil.workflow.publish import publish


@dataclass(kw_only=True, eq=False, repr=False)
class Masker(TransformerMixin, BaseEstimator):
    """A transformer that publishes what it is fitted on, and masks what it transforms."""

    _private = False
    _method = "refinement"
    _least_columns = 1
    _describing: ClassVar[Sequence[str]] = ("attributes", "taxonomies", "default", "person")
    """The arguments that describe the table; a spec describes it itself."""
    _naming: ClassVar[Sequence[str]] = ()
    """Those that `[table]` says without a spec, besides the class and the person."""
    _requiring: ClassVar[Sequence[str]] = ()
    """Those that replace values of a spec in its requirements,"""
    _publishing: ClassVar[Sequence[str]] = ()
    """and in `[publish]`."""
    _defaults: ClassVar[Mapping[str, Any]] = {}
    """What `[publish]` says without a spec, if no argument says otherwise."""

    attributes: Sections | None = None
    taxonomies: Mapping[str, TaxonomyLike] | None = None
    default: Mapping[str, Any] | None = None
    person: str | Sequence[str] | None = None
    spec: SpecLike | None = None
    output: Output = "onehot"
    unseen: Unseen = "refuse"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Publishes the rows and keeps the release and its masking.

        Args:
            X: The rows: an array, or a pandas, polars or pyarrow table.
            y: The class of each row.
            sample_weight: How many records each row represents, as whole numbers.
        """
        self._check_choices()
        labels = class_labels(y, type(self).__name__)
        least = (1 if self._private else 2, self._least_columns)
        rows = checked_rows(self, X, reset=True, missing=self._takes_missing, least=least)
        weights = record_counts(sample_weight, rows)
        spec = self._spec(rows, getattr(y, "name", None))
        if weights is not None:
            spec = _weighted(spec, rows)
        release = self._publish(joined(on_grid(rows, spec), labels, weights, spec), spec)
        # The trace of the search is private; a fitted transformer holds only what its release holds.
        self.release_ = Release(release.table, release.manifest)
        self.spec_ = spec
        self.masking_ = release.masking
        self.guarantee_ = release.manifest.guarantee
        held = [label_text(label) for label in pc.unique(release.table[spec.table.class_]).to_pylist()]
        self.classes_ = labels_like(spec.table.class_values or sorted(held), labels)
        self._encoding = Encoding.of(self.masking_, release.table, self.output)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Masks rows by the cuts that were fitted, in their own order."""
        check_is_fitted(self)
        self._check_choices()
        rows = checked_rows(self, X, reset=False, missing=self._takes_missing)
        try:
            masked = self.masking_.labels(on_grid(rows, self.spec_), unseen=self.unseen)
        except TableError as error:
            raise TableError(f"{error}{self._observed_hint()}") from error
        return self._encoding.encoded(masked, self.unseen)

    def _observed_hint(self) -> str:
        """A hint to declare domains that were observed in the fitted rows: a fold seldom holds all values."""
        observed = [attribute.name for attribute in self.spec_.released if not attribute.declared]
        if not observed:
            return ""
        return (
            f" The domain of {listed(observed, 5)} was observed in the fitted rows; declare it in attributes (range or "
            "values) to have a block for other values."
        )

    def training_data(self) -> tuple[NDArray[Any], NDArray[Any], FloatArray]:
        """The release itself, to train a classifier on: masked values as from `transform`, classes and weights.

        Rows are in the order of the release. A weight is the number of records; a private release estimates it.
        """
        check_is_fitted(self)
        table = self.release_.table
        weight = self.release_.manifest.weighed_by
        counts = np.ones(table.num_rows) if weight is None else table[weight].cast(pa.float64()).to_numpy()
        class_of = {label_text(label): label for label in self.classes_}
        held = np.flatnonzero(counts > 0)
        table = table.take(pa.array(held))
        released = (label_text(label) for label in table[self.spec_.table.class_].to_pylist())
        classes = np.array([class_of[text] for text in released], self.classes_.dtype)
        return self._encoding.encoded(table, "refuse"), classes, counts[held]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that `transform` returns."""
        check_is_fitted(self)
        names = dict(zip(column_names(self), column_names(self, input_features), strict=True))
        return np.array(self._encoding.names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn reads."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self._takes_missing
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _takes_missing(self) -> bool:
        sections = [*(self.attributes or {}).values(), self.default or {}]
        return self.unseen == "suppress" or self.spec is not None or any("missing" in section for section in sections)

    @abstractmethod
    def _requirements(self, names: Sequence[str]) -> list[Section]:
        """The requirements if there is no spec; `names` are the columns that are not identifiers."""

    def _classes(self) -> Section | None:
        """The section that declares the labels of the class, if any."""
        return None

    def _publish(self, table: pa.Table, spec: Spec) -> Release:
        return publish(table, spec)

    def _check_choices(self) -> None:
        for name, value, known in (("output", self.output, Output), ("unseen", self.unseen, Unseen)):
            if value not in get_args(known):
                raise SpecError(f"{name} is {value!r}, but it must be one of {', '.join(map(repr, get_args(known)))}.")

    def _spec(self, rows: pa.Table, class_: Any) -> Spec:
        publishing = self._given(self._publishing)
        if self.spec is None:
            spec = load_spec(self._content(rows, class_, publishing))
        else:
            for name in self._describing:
                if getattr(self, name) is not None:
                    raise SpecError(f"{name} is given together with a spec, which describes the table itself.")
            spec = tuned_spec(self.spec, self._given(self._requiring), publishing)
        method = "refinement" if spec.plan is None else spec.plan.asked
        if method != self._method:
            raise SpecError(
                f"{spec.origin}: [publish] method is {method!r}, which is not that of {type(self).__name__}."
            )
        if spec.learn:
            raise SpecError(
                f"{spec.origin}: [publish] learn keeps fitted rows out of the release, but transform would return "
                "them, and no requirement counts them; remove it, or publish with unveil.publish."
            )
        return spec

    def _content(self, rows: pa.Table, class_: Any, publishing: Section) -> Section:
        persons = [self.person] if isinstance(self.person, str) else [str(name) for name in self.person or ()]
        described = {**(self.attributes or {}), **{name: {"role": "identifier"} for name in persons}}
        sections = attribute_sections(rows, described, self.taxonomies, self.default, by_type=not self._private)
        names = [name for name, section in sections.items() if section.get("role", "attribute") == "attribute"]
        class_name = fresh_name(class_, "class", rows.column_names)
        classes = self._classes()
        return {
            "table": {"class": class_name, **({"person": persons} if persons else {}), **self._given(self._naming)},
            "attributes": sections if classes is None else {**sections, class_name: classes},
            "require": self._requirements(names),
            "publish": {**self._defaults, **publishing},
        }

    def _given(self, names: Sequence[str]) -> Section:
        """The arguments among these that are not at their default, as in a spec file."""
        values = {name.replace("_", "-"): getattr(self, name) for name in names}
        return {key: plain(value) for key, value in values.items() if value is not None}


def _weighted(spec: Spec, rows: pa.Table) -> Spec:
    if spec.table.weight is not None:
        raise SpecError(f"{spec.origin}: [table] weight names {spec.table.weight!r}, and sample_weight is given too.")
    name = fresh_name(None, "weight", [*rows.column_names, spec.table.class_])
    return replace(spec, table=replace(spec.table, weight=name))
