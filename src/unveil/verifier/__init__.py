"""The verification of a release: every claim is recounted with plain group-bys, and no code of the engine.

This is its start, by the files alone: all claims in turn, and then what is left to judge for a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from unveil.characters import hidden_character, hidden_in_value, look_alikes
from unveil.errors import braced, count_text, listed
from unveil.verifier.boxes import check_boxes, check_leaves
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    BrokenClaimError,
    Finding,
    Generalization,
    Masked,
    Released,
    Suppression,
    Verdict,
    findings_of,
    labels,
)
from unveil.verifier.cuts import check_cuts, check_derived, check_derived_values, check_disclosed, check_labels
from unveil.verifier.data import Data, read_data
from unveil.verifier.files import check_copy, check_files, check_spelling, open_files, read_manifest
from unveil.verifier.files.signature import SIGNATURE, check_signature
from unveil.verifier.manifests import (
    AdditiveManifest,
    DiffGenManifest,
    Manifest,
    PrivateClaims,
    PrivateManifest,
    RefinementManifest,
    SafeManifest,
    StatisticsManifest,
    WeightsManifest,
)
from unveil.verifier.records import (
    PERSONS,
    TOGETHER,
    check_masked_rows,
    check_order,
    check_rows,
    check_survey,
    learning_problems,
    omission_problems,
    person_problems,
    released_labels,
    succession_problems,
    weight_notes,
)
from unveil.verifier.requirements import check_guarantee, check_requirements
from unveil.verifier.values import is_text

__all__ = ["Finding", "Verdict", "judge_release"]

MOST = 8
"""How many columns of a set are named."""


def judge_release(folder: Path, key: Path | None = None) -> Verdict:
    """Recounts every claim of a release from its files alone, and whether the holder of a key signed it.

    It gives one finding per broken claim; if every claim holds, notes on what a reader must judge. Claims that cannot
    be recounted because another is broken, such as those about rows that cannot be read, are left out. It is a
    `ReleaseError` if the folder is not a release that this version can read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        findings += check_signature(folder, key) if key is not None else ()
        findings += check_spelling(folder)
        findings += check_files(folder, manifest)
        findings += check_cuts(manifest)
        findings += check_boxes(manifest)
        findings += check_texts(manifest)
        findings += check_derived(manifest)
        findings += claim_findings(manifest)
        files, needless = open_files(folder, manifest)
        findings += needless
        data, unused = read_data(files, manifest)
        findings += unused
        findings += check_copy(folder, manifest, files)
        findings += row_findings(manifest, data)
        if isinstance(manifest, WeightsManifest) and not findings:
            from unveil.verifier.private.weights import check_origin

            findings += check_origin(manifest, data)
    except BrokenClaimError as broken:
        return Verdict([*findings, *broken.findings])
    notes = [] if findings else [*reader_notes(manifest, data), *_signature_notes(folder, key)]
    return Verdict(findings, notes, data)


def _signature_notes(folder: Path, key: Path | None) -> Iterator[str]:
    """Whose release it is: unsigned, signed by nobody knows whom, or by the holder of a key."""
    if key is not None:
        yield f"The holder of the key {key.name} signed it. Whose key that is, you must know from elsewhere."
    elif (folder / SIGNATURE).exists():
        yield "It is signed. Check by whom with the owner's public key: --key."


def claim_findings(manifest: Manifest) -> Iterator[Finding]:
    """What is wrong with the guarantee, and with what the manifest says about how it came about."""
    if isinstance(manifest, PrivateManifest):
        yield from _private_claim_findings(manifest)
    else:
        yield from check_guarantee(manifest)
        yield from findings_of(PERSONS, "", person_problems(manifest))
        yield from findings_of("left-out", f"{MANIFEST}, leave-out: ", omission_problems(manifest))
        yield from findings_of("learn", f"{MANIFEST}, learn: ", learning_problems(manifest))
        yield from findings_of("goal", f"{MANIFEST} has the goal ", goal_problems(manifest))
        yield from findings_of(TOGETHER, f"{MANIFEST} ", succession_problems(manifest))


def row_findings(manifest: Manifest, data: Data) -> Iterator[Finding]:
    """What is wrong with the released rows, or with the cells of a private release."""
    yield from check_values(manifest, data)
    yield from check_derived_values(manifest, data)
    if isinstance(manifest, PrivateManifest):
        yield from _private_row_findings(manifest, data)
        return
    yield from check_rows(manifest, data)
    yield from check_labels(released_labels(manifest), data)
    yield from check_leaves(manifest, data)
    yield from check_masked_rows(manifest, data)
    yield from check_disclosed(manifest, data)
    yield from check_survey(manifest, data)
    yield from check_requirements(manifest, data)


# What only private releases need is imported for them alone: a small release is verified as fast as this is loaded.


def _private_claim_findings(manifest: PrivateClaims) -> Iterator[Finding]:
    from unveil.verifier.private import check_ledger, check_promise, check_specializations, check_thinning

    yield from check_promise(manifest)
    if isinstance(manifest, WeightsManifest):
        yield from measured_findings(manifest)
        return
    yield from check_specializations(manifest)
    yield from check_thinning(manifest) if isinstance(manifest, SafeManifest) else check_ledger(manifest)


def measured_findings(manifest: AdditiveManifest | StatisticsManifest) -> Iterator[Finding]:
    """What is wrong with the numbers that weights are made of."""
    from unveil.verifier.private.measured import check_measured, check_tables

    yield from check_measured(manifest) if isinstance(manifest, AdditiveManifest) else check_tables(manifest)


def _private_row_findings(manifest: PrivateClaims, data: Data) -> Iterator[Finding]:
    from unveil.verifier.private import check_cells, check_shared
    from unveil.verifier.private.weights import check_weights

    yield from check_order(manifest, data)
    yield from check_labels(manifest.labels, data)
    if isinstance(manifest, DiffGenManifest):
        yield from check_cells(manifest, data)
    elif isinstance(manifest, SafeManifest):
        yield from check_shared(manifest, data)
    else:
        yield from check_weights(manifest, data)


def check_texts(manifest: Manifest) -> Iterator[Finding]:
    """The manifest: names of columns, labels of cuts, classes and what requirements name."""
    yield from _hidden(MANIFEST, "the column", manifest.names)
    for name, derived in manifest.derived.items():
        yield from _hidden(MANIFEST, f"{name!r} is derived from", [derived.source])
        yield from _hidden(MANIFEST, f"the derivation of {name!r} has", derived.texts, hidden_in_value)
    kept = [text for kind, marks in manifest.class_missing.items() for text in (kind, *marks)]
    yield from _hidden(MANIFEST, "class_missing has", kept, hidden_in_value)
    for name, entry in manifest.masked.items():
        raw = _raw(entry)
        yield from _hidden(MANIFEST, f"the cut of {name!r} has", [label for label in labels(entry) if label not in raw])
        yield from _hidden(MANIFEST, f"the cut of {name!r} has", sorted(raw), hidden_in_value)
    if isinstance(manifest, PrivateManifest):
        yield from _hidden(MANIFEST, "the class label", manifest.classes)
        return
    for number, stated in enumerate(manifest.requirements, start=1):
        yield from _hidden(MANIFEST, f"requirement {number} names", _texts(stated))
    for tree in manifest.boxes:
        raw = frozenset[str]().union(
            *(_raw(manifest.masked[name]) for name in tree.attributes if name in manifest.masked)
        )
        split = (label for item in tree.splits for label in (item.block, *item.into) if label not in raw)
        yield from _hidden(MANIFEST, "a split has the label", split)
    if manifest.leave_out is not None:
        yield from _hidden(MANIFEST, "leave-out has the label", manifest.leave_out.labels.values())


def goal_problems(manifest: RefinementManifest) -> Iterator[str]:
    """What the search kept information about: only the joint one has a choice, and readers see the columns."""
    goal = manifest.goal
    if goal != "class" and manifest.search != "joint":
        yield f"{goal!r}, but the search {manifest.search!r} has none to choose"
    named = [] if isinstance(goal, str) else goal
    for place, name in enumerate(named):
        entry = manifest.masking.get(name)
        seen = name == manifest.class_ or (isinstance(entry, Released) and entry.type == "category")
        if not seen or name in named[:place]:
            problem = "twice" if seen else "which is not a category released as it is"
            yield f"{listed(named)}: it names {name!r}, {problem}"


def check_values(manifest: Manifest, data: Data) -> Iterator[Finding]:
    """The values of the class and of sensitive columns: two that look the same are counted as different."""
    if isinstance(manifest, PrivateManifest):
        return
    named = _sensitive(manifest)
    for name in [*(name for name in manifest.masking if name in named), manifest.class_]:
        yield from _hidden(PARQUET, f"the column {name!r} holds", data.columns[name].named())


def _raw(entry: Masked) -> frozenset[str]:
    """The raw values that a cut lists. Tabs and line breaks are data in these."""
    if isinstance(entry, Suppression):
        return frozenset(entry.disclosed)
    if isinstance(entry, Generalization):
        return frozenset(value for block in entry.blocks for value in block.values)
    return frozenset()


def _hidden(
    file: str, what: str, texts: Iterable[str], find: Callable[[str], str | None] = hidden_character
) -> Iterator[Finding]:
    """The first text with a hidden character."""
    for text in texts:
        if found := find(text):
            yield Finding("characters", f"{file}: {what} {text!r}, with the character {found}, which is invisible.")
            return


def _texts(content: object) -> Iterator[str]:
    """All texts in a requirement, whatever its shape."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)


def reader_notes(manifest: Manifest, data: Data) -> Iterator[str]:
    """What is left to judge of a release whose claims hold."""
    if isinstance(manifest, PrivateManifest):
        drawn = "rows were sampled" if isinstance(manifest, SafeManifest) else "noise was added"
        yield f"The arithmetic adds up. That {drawn} cannot be seen from the release; --raw can test it."
        if isinstance(manifest, WeightsManifest):
            additive = isinstance(manifest, AdditiveManifest)
            made = "steps, cut and tree were computed" if additive else "groups of bins were made"
            yield (
                f"The weights are what the published numbers make them. That {made} from these numbers alone is not "
                "checked."
            )
        if manifest.contributions is None:
            yield "The promise is about one record: for a person with several records, ε counts once for each."
        else:
            yield (
                f"The promise is about one person. Whose rows were counted, at most {manifest.contributions:,} of "
                "each, cannot be seen from the release; --raw counts them again."
            )
    else:
        yield from _refinement_notes(manifest, data)
    yield from _likeness_notes(manifest, data)


def _refinement_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    sets = {tuple(stated.get("quasi-identifier") or stated.get("channel") or ()) for stated in manifest.requirements}
    chosen = " and ".join(braced(names, MOST) for names in sorted(sets))
    yield f"What a stranger may know was the owner's choice: {chosen}. Someone who knows more may find fewer records."
    as_is = [
        name for name, entry in manifest.masking.items() if isinstance(entry, Released) and entry.survey_weight is None
    ]
    yield f"Released as they are: {listed([*as_is, manifest.class_])}."
    yield from weight_notes(manifest, data)
    yield _unique_note(data)
    if manifest.weight is not None:
        yield (
            f"Records are counted by the column {manifest.weight!r}. That is right if it counts equal records, and "
            "wrong for survey weights, where a row is one person."
        )
    if manifest.persons is not None:
        yield (
            f"Whose records these are ({manifest.persons:,} persons) cannot be seen from the release, only that no "
            "group has fewer records than it must have persons; --raw counts the persons."
        )
    if manifest.after:
        yield (
            f"Who is in which of the {len(manifest.after) + 1:,} releases cannot be seen from them. verify --after DIR "
            "compares them as far as a reader can; --raw counts the people."
        )
    observed = [name for name, entry in manifest.masking.items() if entry.domain == "observed"]
    if observed:
        yield f"Domains read from the data, which disclose something about it: {listed(observed)}."
    yield from _unheld_notes(manifest, data)
    for name in as_is:
        column = data.columns[name]
        if is_text(column.values.type) and any(map(hidden_in_value, column.named())):
            yield f"The column {name!r} holds values with invisible characters."


def _unique_note(data: Data) -> str:
    """How many rows represent one record and differ from all other rows."""
    alone = int(np.count_nonzero(data.weights == 1))
    if not alone:
        return f"On all columns together, none of {count_text(data.rows, 'row')} is unique."
    rows = f"{alone:,} of {count_text(data.rows, 'row')} ({alone / data.rows:.1%})"
    verb = "is" if alone == 1 else "are"
    return f"On all columns together, {rows} {verb} unique: anyone who knows all of them about a person finds that row."


def _unheld_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    """A limit on a value that no row holds limits nothing, such as one on 'HIV' where the data says 'hiv'."""
    for number, stated in enumerate(manifest.requirements, start=1):
        column = data.columns.get(str(stated.get("sensitive")))
        if column is not None and (named := stated.get("values")):
            held = set(column.texts())
            if unheld := [value for value in named if value not in held]:
                yield f"Requirement {number} limits {listed(unheld)} of {column.name!r}, which no row holds."


def _likeness_notes(manifest: Manifest, data: Data) -> Iterator[str]:
    """Names or labels that a reader may confuse: columns that look alike, spellings of one value."""
    yield from _alike("columns", manifest.names)
    sensitive = _sensitive(manifest)
    for name, entry in manifest.masking.items():
        if not isinstance(entry, Released):
            yield from _alike(f"labels of {name!r}", labels(entry))
        elif name in sensitive:
            yield from _alike(f"values of {name!r}", data.columns[name].named())
    yield from _alike(f"values of {manifest.class_!r}", data.columns[manifest.class_].named())


def _sensitive(manifest: Manifest) -> set[str]:
    """The columns that requirements protect."""
    if isinstance(manifest, PrivateManifest):
        return set()
    return {str(stated.get("sensitive")) for stated in manifest.requirements}


def _alike(what: str, words: Sequence[str]) -> Iterator[str]:
    groups = look_alikes(words)
    if groups:
        more = f", and {count_text(len(groups) - 1, 'more group')}" if groups[1:] else ""
        yield f"Some {what} look alike: {listed(groups[0])}{more}."
