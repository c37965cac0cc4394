"""The methods as transformers.

Arguments only say what differs from the spec or, if there is no spec, from the documented defaults; see
`docs/scikit-learn.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import pyarrow as pa

from unveil.errors import SpecError
from unveil.release import Release
from unveil.schema import Criterion, Goal, LeftOut, Recoding, SearchName, Spec
from unveil.sklearn.descriptions import Section, plain, plain_section
from unveil.sklearn.masker import Masker
from unveil.sklearn.rows import label_text
from unveil.workflow.publish import publish

K = 10
EPSILON = 1.0
DELTA = 1e-9
"""The δ of `SafeRows` without a spec."""
SPECIALIZATIONS = 10


@dataclass(kw_only=True, eq=False, repr=False)
class Refining(Masker):
    """A transformer that searches: the keys of `[publish]` that say how."""

    _publishing = ("search", "recoding", "leave_out", "left_out", "goal", "criterion")

    search: SearchName | None = None
    recoding: Recoding | None = None
    leave_out: str | None = None
    left_out: LeftOut | None = None
    goal: Goal | Sequence[str] | None = None
    criterion: Criterion | None = None


@dataclass(eq=False, repr=False)
class TopDownRefinement(Refining):
    """Masks rows so that every combination of values of the quasi-identifier is shared by at least k fitted rows.

    Args:
        k: The least number of records in a group; 10 without a spec.
        quasi_identifier: The columns that a stranger may know; all of them if it is not given. Others are released as
            they are.
        attributes: What is known about columns, by name, as in a spec: `{"age": {"range": [17, 91], "whole": True}}`.
            A column that is not described is a number or a category by its type, with its observed domain.
        taxonomies: Taxonomies of columns, by name: a `Taxonomy`, the path of a file, or a nested mapping.
        default: The description of every column that neither of these has.
        person: The columns that say whose row each is: k then counts persons. They are never released.
        search: `paper` or `joint`; this and the next five are the keys of `[publish]` in a spec, with its defaults.
        recoding: `global` or `local`: refine a block everywhere, or in each group by itself.
        leave_out: The share of the records, or of the persons, that may be left out, such as `1%`.
        left_out: `drop` or `mask`: what happens to them.
        goal: `class`, `statistics`, or columns that are released as they are.
        criterion: For the paper's search: `score`, gain for loss, or `infogain`, gain alone; `anonymity` for the joint.
        spec: A whole spec, a path, a mapping or a `Spec`, instead of the descriptions above. Its class is y. What is
            given as k replaces the k of each of its requirements.
        output: `onehot`, `codes` or `labels`.
        unseen: What happens to a value without a block when rows are transformed: `refuse` or `suppress`.

    Attributes:
        release_: The published rows and their manifest.
        masking_: The cuts.
        guarantee_: What is promised about the fitted rows, in a sentence.
        spec_: The spec that was followed.
        classes_: The labels of the class.
        n_features_in_: How many columns were fitted.
        feature_names_in_: Their names, where they have some.
    """

    _describing = ("quasi_identifier", *Masker._describing)
    _requiring = ("k",)

    k: int | None = None
    _: KW_ONLY
    quasi_identifier: Sequence[str] | None = None

    def _requirements(self, names: Sequence[str]) -> list[Section]:
        chosen = names if self.quasi_identifier is None else self.quasi_identifier
        listed = chosen if isinstance(chosen, str) else plain(list(chosen))
        return [{"kind": "k-anonymity", "quasi-identifier": listed, "k": K if self.k is None else plain(self.k)}]


@dataclass(eq=False, repr=False)
class ProgressiveDisclosure(Refining):
    """Masks rows so that no named sensitive value has a larger share in a group than its limit.

    Args:
        templates: What must not be inferred, each a mapping: `sensitive`, a column; `values`, those to protect, all if
            not given; `limit`, the highest share in a group; `channel`, the columns to infer from, all that are not
            sensitive if not given. Sensitive columns are released as they are.
        limit: The limit of every template, in place of its own, or of each template of a spec.

    The other arguments are those of `TopDownRefinement`: `attributes`, `taxonomies`, `default`, `person`, `search`,
    `recoding`, `leave_out`, `left_out`, `goal`, `criterion`, `spec`, `output` and `unseen`.

    Fitted attributes are those of `TopDownRefinement`.
    """

    _least_columns = 2
    _describing = ("templates", *Masker._describing)
    _requiring = ("limit",)

    templates: Sequence[Mapping[str, Any]] | None = None
    _: KW_ONLY
    limit: float | None = None

    def _requirements(self, names: Sequence[str]) -> list[Section]:
        if not self.templates:
            raise SpecError("ProgressiveDisclosure has neither templates nor a spec, so nothing would be protected.")
        templates = [plain_section(template, "a template") for template in self.templates]
        sensitive = [template.get("sensitive") for template in templates]
        channel = [name for name in names if name not in sensitive]
        limit = self._given(self._requiring)
        return [{"kind": "confidence", "channel": channel, **template, **limit} for template in templates]


@dataclass(eq=False, repr=False)
class PrivateMasker(Masker):
    """A transformer that draws a differentially private release."""

    _private = True
    _describing = ("classes", "name", "contributions", *Masker._describing)
    _naming = ("name",)
    _requiring = ("epsilon",)

    epsilon: float | None = None
    _: KW_ONLY
    classes: Iterable[Any] | None = None
    contributions: int | None = None
    unsafe_seed: int | None = None
    name: str | None = None

    def __sklearn_tags__(self) -> Any:
        """As for the others; without a seed, every fit draws again."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.unsafe_seed is None
        return tags

    def _requirements(self, names: Sequence[str]) -> list[Section]:
        bounds = self._given(("epsilon", "contributions"))
        return [{"kind": "differential-privacy", "epsilon": EPSILON, **bounds}]

    def _classes(self) -> Section | None:
        if self.classes is None:
            name = type(self).__name__
            raise SpecError(
                f"{name} needs the labels of the class declared (classes), since observed ones are private."
            )
        return {"values": [label_text(label) for label in self.classes]}

    def _publish(self, table: pa.Table, spec: Spec) -> Release:
        return publish(table, spec, unsafe_seed=self.unsafe_seed)


@dataclass(eq=False, repr=False)
class DiffGen(PrivateMasker):
    """Draws a differentially private release of the rows, and masks rows by its cuts.

    The release is private: `release_`, and `training_data()` to train on. The result of `transform` is not: it has
    one masked row for each raw row. Nothing is taken from the rows except through the draws, so every domain must be
    declared.

    Args:
        epsilon: The privacy budget of the release; 1 without a spec.
        specializations: How many specializations are drawn; 10 without a spec.
        classes: The labels of the class. Needed without a spec.
        attributes: The domains of columns, as in a spec: `{"age": {"range": [17, 91], "whole": True}}` or
            `{"sex": {"values": ["Female", "Male"]}}`. A number between two declared steps counts as the lower one.
        taxonomies: Taxonomies of columns, by name: a `Taxonomy`, the path of a file, or a nested mapping.
        default: The domain of every column that neither of these describes.
        person: The columns that say whose row each is: ε is then about one person.
        contributions: With `person`, how many rows of one person are used at most.
        utility: `max` or `infogain`.
        choice: `permute-and-flip` or `exponential`.
        budget: `full` or `paper`.
        threshold: Publish only cells whose noisy count reaches this.
        unsafe_seed: For tests and experiments: draw from a seed. The release is not private and says so.
        spec: A whole spec, a path, a mapping or a `Spec`, instead of classes and domains. Values given above replace
            its own. Every fit is entered into the ledger next to a spec that is a file.
        name: Without a spec, the name of the fitted rows in the owner's ledger in the working folder. Without a name
            their cost is not entered anywhere, and a warning says so.
        output: `onehot`, `codes` or `labels`.
        unseen: What happens to a value without a block when rows are transformed: `refuse` or `suppress`.

    Fitted attributes are those of `TopDownRefinement`.
    """

    _method = "diffgen"
    _publishing = ("specializations", "utility", "choice", "budget", "threshold")
    _defaults: ClassVar = {"method": "diffgen", "specializations": SPECIALIZATIONS}

    _: KW_ONLY
    specializations: int | None = None
    utility: Literal["max", "infogain"] | None = None
    choice: Literal["exponential", "permute-and-flip"] | None = None
    budget: Literal["full", "paper"] | None = None
    threshold: int | None = None


@dataclass(eq=False, repr=False)
class Additive(PrivateMasker):
    """Draws a differentially private release of weights by an additive model, and masks rows by its cut.

    The release is private: `release_`, and `training_data()` to train on. The result of `transform` is not: it has
    one masked row for each raw row. Nothing is taken from the rows except through the draws, so every domain must be
    declared. There is nothing to tune.

    Args:
        goal: `class` for weights to learn the class from, `statistics` for weights to count.

    The other arguments are those of `DiffGen` that are not about its search: `epsilon`, `classes`, `attributes`,
    `taxonomies`, `default`, `person`, `contributions`, `unsafe_seed`, `spec`, `name`, `output` and `unseen`.

    Fitted attributes are those of `TopDownRefinement`.
    """

    _method = "additive"
    _publishing = ("goal",)
    _defaults: ClassVar = {"method": "additive"}

    _: KW_ONLY
    goal: Literal["class", "statistics"] | None = None


@dataclass(eq=False, repr=False)
class SafeRows(PrivateMasker):
    """Draws a differentially private release of true rows, sampled and k-anonymous, and masks rows by its cut.

    The release is private: `release_`, and `training_data()` to train on. The result of `transform` is not: it has
    one masked row for each raw row. Nothing is taken from the rows except through the draws, so every domain must be
    declared.

    Args:
        delta: The δ of the release; 1e-9 without a spec.
        specializations: How many specializations are drawn; 10 if not given.
        utility: `max` or `infogain`.
        choice: `permute-and-flip` or `exponential`.

    The other arguments are those of `Additive`. Fitted attributes are those of `TopDownRefinement`.
    """

    _method = "safe"
    _publishing = ("delta", "specializations", "utility", "choice")
    _defaults: ClassVar = {"method": "safe", "delta": DELTA}

    _: KW_ONLY
    delta: float | None = None
    specializations: int | None = None
    utility: Literal["max", "infogain"] | None = None
    choice: Literal["exponential", "permute-and-flip"] | None = None
