"""What masking costs a release, whatever it is used for: the measures of information loss that papers report.

Only the owner can measure them all: how many values `⊥` hides and how high a taxonomy is are not in a release.
No record is ever suppressed here, so the terms for suppressed records that some measures have are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np

from unveil.arrays import IntArray
from unveil.errors import ReleaseError, SpecError
from unveil.evaluation.reidentification import SIZE, group_sizes, grouped, refinement_manifest, size_counts
from unveil.masking import REST, AsIs, Discretization, Generalization, Suppression, dictionary_of
from unveil.release import RefinementManifest, Release
from unveil.schema import Attribute, Spec
from unveil.tables import Table


class Measure(NamedTuple):
    """A measure with what a reader needs to know about it."""

    name: str
    figure: str
    words: str


@dataclass(frozen=True)
class InformationLoss:
    """What the masking of a quasi-identifier costs."""

    quasi_identifier: tuple[str, ...]
    k: int
    """The largest k that the release promises on these attributes; 1 if it promises none."""
    records: int
    groups: int
    penalties: dict[str, float]
    """NCP per attribute: 0 as it was, 1 fully masked (`certainty_penalty`)."""
    discernibility: int
    """DM: how many records each record cannot be distinguished from, summed up (`discernibility`)."""
    average_class_size: float
    """C_AVG: the mean group, in units of k (`average_class_size`)."""
    classification_metric: float
    """CM: the share of the records outside the majority class of their group (`classification_metric`)."""
    precisions: dict[str, float]
    """PREC per attribute that has a taxonomy or is suppressed: 1 as it was, 0 fully masked (`precision`)."""

    @property
    def global_penalty(self) -> float:
        """GCP: the mean of the penalties over the attributes (Ghinita et al., VLDB 2007)."""
        return float(np.mean(list(self.penalties.values())))

    @property
    def precision(self) -> float | None:
        """PREC: the mean of the precisions; None if no attribute has one."""
        return float(np.mean(list(self.precisions.values()))) if self.precisions else None

    def lines(self) -> Iterator[Measure]:
        """Every measure with its name, its figure and what the figure means: what it counts and which way is better."""
        yield Measure(
            "Certainty penalty (NCP)",
            f"{self.global_penalty:.1%}",
            "How much of an attribute's range or values the label of a record covers, on average. "
            "0% is exact, 100% says nothing; lower keeps more.",
        )
        if self.precision is not None:
            yield Measure(
                "Precision (Prec)",
                f"{self.precision:.1%}",
                "How far down its taxonomy the label of a record is, on average. "
                "100% is the raw value, 0% the root; higher keeps more.",
            )
        yield Measure(
            "Mean group",
            f"{self.records / self.groups:,.1f} records",
            "How many records share the labels of all masked attributes. Smaller groups keep more and hide less.",
        )
        yield Measure(
            "Discernibility (DM)",
            f"{self.discernibility:,} pairs",
            "How many pairs of records have the same masked values, counting each record with itself: "
            f"from {self.records:,} (all different) to {self.records**2:,} (all equal); lower keeps more.",
        )
        yield Measure(
            "Class mix (CM)",
            f"{self.classification_metric:.1%}",
            "How many records have another class than most of their group, so that no rule on the masked attributes "
            "gets them right. 0% is best; lower keeps more for a classifier.",
        )


def information_loss(
    release: Release, spec: Spec, quasi_identifier: Sequence[str] | None = None, *, table: Table | None = None
) -> InformationLoss:
    """Measures what masking costs the quasi-identifier, or all masked attributes if none is given.

    The raw table is needed where values are hidden of an attribute whose domain nobody declared.
    """
    manifest = refinement_manifest(release)
    masked = [name for name, entry in manifest.columns.items() if not isinstance(entry, AsIs)]
    names = tuple(dict.fromkeys(masked if quasi_identifier is None else quasi_identifier))
    sizes = group_sizes(release, names)
    k = promised_k(manifest, names)
    precisions = {name: precision(release, name, spec, table) for name in names}
    return InformationLoss(
        quasi_identifier=names,
        k=k,
        records=int(sizes.sum()),
        groups=len(sizes),
        penalties={name: certainty_penalty(release, name, spec, table) for name in names},
        discernibility=discernibility(sizes),
        average_class_size=average_class_size(sizes, k),
        classification_metric=classification_metric(release, names),
        precisions={name: value for name, value in precisions.items() if value is not None},
    )


def certainty_penalty(release: Release, name: str, spec: Spec, table: Table | None = None) -> float:
    """NCP of an attribute: the mean over the records of how much of the domain their block covers.

    Xu et al., *Utility-Based Anonymization Using Local Recoding*, KDD 2006. A block of one value costs 0.

    - a taxonomy label: leaves below it / leaves of the tree
    - an interval: width / width of the range, each from the smallest to the largest value it can hold, so that the
      whole numbers of `[17, 20)` are 2 wide
    - `⊥`: hidden values / values of the domain (a block of the flat tree over the domain)

    Where groups are refined one by one, what a rest or `⊥` covers depends on the group; here it is what it covers at
    most. Rows that are left out and fully masked cost 1.
    """
    entry = release.masking[name]
    if isinstance(entry, AsIs):
        return 0.0
    records = label_records(release, name)
    if isinstance(entry, Generalization):
        costs = block_penalties(entry)
    elif isinstance(entry, Discretization):
        costs = block_penalties(entry, _attribute(spec, name).step)
    else:
        domain = _domain(entry, records, _attribute(spec, name), spec, table)
        costs = _hidden_costs(entry, domain, by_share=True)
    return _mean(records, {**_set_aside(release, name), **costs}, name)


def _set_aside(release: Release, name: str) -> dict[str, float]:
    """What the label of rows that were left out costs, if they are released."""
    left_out = release.manifest.leave_out if isinstance(release.manifest, RefinementManifest) else None
    return {} if left_out is None or name not in left_out.labels else {left_out.labels[name]: 1.0}


def block_penalties(entry: Generalization | Discretization, step: float | None = None) -> dict[str, float]:
    """NCP of each block of a taxonomy or a range; `step` is that of a number that is not whole, if declared."""
    if isinstance(entry, Generalization):
        leaves = len({value for block in entry.blocks for value in block.values})
        return {block.label: len(block.values) / leaves if len(block.values) > 1 else 0.0 for block in entry.blocks}
    # The largest value below an open end lies one step below it, or next to it where numbers have no step.
    step = 1.0 if entry.whole else step or 0.0
    scale = entry.scale
    width = scale.hi - scale.lo - step
    wide = {block.label: 0.0 if block.numbers is None else block.hi - block.lo - step for block in entry.blocks}
    return {label: max(held, 0.0) / width if width > 0 else 0.0 for label, held in wide.items()}


def precision(release: Release, name: str, spec: Spec, table: Table | None = None) -> float | None:
    """PREC of an attribute: 1 − the mean over the records of (height of their block / height of the tree).

    Sweeney, *Achieving k-Anonymity Privacy Protection Using Generalization and Suppression*, 2002. The height of a
    label is the longest way down to a leaf. Suppressed values form a flat tree of height 1, and `⊥` with one value
    behind it is that value. Intervals belong to no tree that was given, so a number has no precision: None.
    """
    entry = release.masking[name]
    if isinstance(entry, AsIs):
        return 1.0 if entry.type == "category" else None
    if isinstance(entry, Discretization):
        return None
    records = label_records(release, name)
    attribute = _attribute(spec, name)
    if isinstance(entry, Generalization):
        costs = _heights(entry, attribute, spec)
    else:
        domain = _domain(entry, records, attribute, spec, table)
        costs = _hidden_costs(entry, domain, by_share=False)
    return 1 - _mean(records, {**_set_aside(release, name), **costs}, name)


def discernibility(sizes: IntArray) -> int:
    """DM: Σ size² over the groups. Bayardo and Agrawal, *Data Privacy through Optimal k-Anonymization*, ICDE 2005."""
    # Whole numbers of any length: with weights, squares may outgrow 64 bits.
    return sum(size**2 * count for size, count in size_counts(sizes).items())


def average_class_size(sizes: IntArray, k: int = 1) -> float:
    """C_AVG: records / groups / k. LeFevre et al., *Mondrian Multidimensional K-Anonymity*, ICDE 2006."""
    return float(sizes.sum() / len(sizes) / k)


def classification_metric(release: Release, quasi_identifier: Sequence[str]) -> float:
    """CM: the records that are not of the majority class of their group, divided by the records.

    Iyengar, *Transforming Data to Satisfy Privacy Constraints*, KDD 2002. Of classes that tie for the majority, one is
    the majority class and the others are not.
    """
    counts = grouped(release, quasi_identifier, release.manifest.class_)
    *keys, _, _ = counts.column_names
    majorities = counts.group_by(keys).aggregate([(SIZE, "sum"), (SIZE, "max")])
    records = majorities[f"{SIZE}_sum"].to_numpy().sum()
    return float((records - majorities[f"{SIZE}_max"].to_numpy().sum()) / records)


def promised_k(manifest: RefinementManifest, names: Sequence[str]) -> int:
    """The largest k that holds for groups on these attributes because it holds on all of them or more."""
    promises = [item for item in manifest.requirements if "k" in item]
    return max([1, *(int(item["k"]) for item in promises if set(names) <= set(item["quasi-identifier"]))])


def _hidden_costs(entry: Suppression, domain: int, *, by_share: bool) -> dict[str, float]:
    """What `⊥` costs: the share of the domain that it may hide, or 1; nothing if one value alone is behind it."""
    # Where groups are refined one by one, it hides all values in some of them.
    hidden = domain if entry.local else domain - len(entry.disclosed)
    cost = 0.0 if hidden <= 1 else hidden / domain if by_share else 1.0
    return {**dict.fromkeys(entry.disclosed, 0.0), entry.marker: cost}


def _domain(
    entry: Suppression, records: dict[str, float], attribute: Attribute, spec: Spec, table: Table | None
) -> int:
    """How many values the attribute may have. Where none is hidden, they are the disclosed ones."""
    if not records.get(entry.marker):
        return len(entry.disclosed)
    values = attribute.values or _observed(attribute.name, table)
    if values is None:
        raise SpecError(
            f"{spec.origin}: [attributes.{attribute.name}] declares no values, so only the raw table knows how many "
            f"are hidden behind {entry.marker!r}; give the table, or declare them."
        )
    if not set(entry.disclosed) <= set(values) or (len(entry.disclosed) == len(values) and not entry.local):
        raise _misfit(attribute.name, spec)
    return len(values)


def _observed(name: str, table: Table | None) -> tuple[str, ...] | None:
    held = [column for column in table.columns if column.name == name] if table is not None else []
    return held[0].texts if held else None


def _heights(entry: Generalization, attribute: Attribute, spec: Spec) -> dict[str, float]:
    tree = attribute.taxonomy
    if tree is None:
        raise _misfit(attribute.name, spec)
    labels = [block.label for block in entry.blocks]
    # A rest is as high as its node.
    nodes = {label: label if label in tree else label.removesuffix(REST) for label in labels}
    if any(node not in tree for node in nodes.values()):
        raise _misfit(attribute.name, spec)
    return {label: tree.node(node).height / tree.root.height for label, node in nodes.items()}


def _attribute(spec: Spec, name: str) -> Attribute:
    if name not in spec.attributes:
        raise _misfit(name, spec)
    return spec.attributes[name]


def _misfit(name: str, spec: Spec) -> SpecError:
    return SpecError(f"{spec.origin}: the release masks {name!r} in a way that does not come from this spec.")


def label_records(release: Release, name: str) -> dict[str, float]:
    """How many records hold each label of a masked column; noisy counts and weights are taken as they are."""
    distinct, counts = release.counted
    weight = release.manifest.weighed_by
    records = counts if weight is None else counts * distinct[weight].to_numpy()
    labels = dictionary_of(distinct[name])
    sums = np.bincount(labels.indices.to_numpy(), weights=records, minlength=len(labels.dictionary))
    return {str(label): held for label, held in zip(labels.dictionary.to_pylist(), sums.tolist(), strict=True)}


def _mean(records: dict[str, float], costs: dict[str, float], name: str) -> float:
    """The mean over the records of what their labels cost; everything, if noise has left no record."""
    for label in records:
        if label not in costs:
            raise ReleaseError(f"the release holds {label!r} in the column {name!r}, which its masking does not have.")
    total = sum(records.values())
    return fsum(count * costs[label] for label, count in records.items()) / total if total else 1.0
