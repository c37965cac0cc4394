"""What a differentially private manifest says of itself: its guarantee, its domains and its cuts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from unveil.errors import count_text, listed
from unveil.verifier.findings import Finding
from unveil.verifier.parts import MANIFEST, Generalization, Masked, Suppression
from unveil.verifier.private.claims import DiffGenManifest, exact_text
from unveil.verifier.requirements import differing

SEEDED = "None: it was made with a seed, for tests and experiments."


def check_promise(manifest: DiffGenManifest) -> Iterator[Finding]:
    """All claims that the manifest alone decides, but for the ledger."""
    yield from _guarantee_findings(manifest)
    yield from _domain_findings(manifest)
    yield from _class_findings(manifest)
    yield from _step_findings(manifest)
    if manifest.cells != (cells := cell_total(manifest)):
        claimed, counted = exact_text(manifest.cells), exact_text(cells)
        yield Finding("cells", f"{MANIFEST} says that cells is {claimed}, but its cuts and classes make {counted}.")


def cell_total(manifest: DiffGenManifest) -> int:
    """How many cells there are: one for each block of every attribute, and each class."""
    return prod(len(labels) for labels in manifest.labels.values())


def _guarantee_findings(manifest: DiffGenManifest) -> Iterator[Finding]:
    """A reader of the sentence learns the ε that the release keeps, or that it keeps none.

    Whether rows have weights is not stated in a manifest, so the sentence about weights, which promises less, is
    right as well; with the spec, `check_plan` knows.
    """
    if manifest.guarantee != promised(manifest, weighted=True):
        yield from differing(manifest.guarantee, promised(manifest, weighted=False))


def promised(manifest: DiffGenManifest, *, weighted: bool) -> str:
    """The sentence of a release, written from its requirement."""
    if not manifest.private:
        return SEEDED
    unit = "one record (a row of weight n is n records)" if weighted else "one record"
    epsilon = _decimal(manifest.epsilon)
    return (
        f"This release is ε-differentially private with ε = {epsilon}: adding or removing {unit} "
        f"changes the probability of any release by a factor of at most exp({epsilon})."
    )


def _decimal(amount: Fraction) -> str:
    """In decimal where a float is exactly that, else as a fraction."""
    try:
        number = float(amount)
    except OverflowError:
        return str(amount)
    text = str(int(number)) if number == int(number) else repr(number)
    return text if Fraction(text) == amount else str(amount)


def _domain_findings(manifest: DiffGenManifest) -> Iterator[Finding]:
    for name, entry in manifest.masking.items():
        if entry.domain != "declared":
            message = f"the domain of {name!r} is {entry.domain}: it was read off the data, which no charge covers"
            yield Finding("domain", f"{MANIFEST}: {message}.")


def _class_findings(manifest: DiffGenManifest) -> Iterator[Finding]:
    classes = manifest.classes
    if len(set(classes)) < len(classes):
        twice = [label for index, label in enumerate(classes) if label in classes[:index]]
        yield Finding("classes", f"{MANIFEST}: the class label {listed(twice)} appears twice.")
    if len(classes) < 2:
        yield Finding(
            "classes", f"{MANIFEST} has {count_text(len(classes), 'class label')}, but a class has at least 2."
        )


def _step_findings(manifest: DiffGenManifest) -> Iterator[Finding]:
    """The cuts take as many specializations as there were. How many a taxonomy took only the taxonomy tells."""
    entries = list(manifest.masking.values())
    least = sum(_least_steps(entry) for entry in entries)
    open_ended = any(isinstance(entry, Generalization) for entry in entries)
    if manifest.specializations < least or (manifest.specializations > least and not open_ended):
        yield Finding(
            "specializations",
            f"{MANIFEST} says that there were {manifest.specializations} specializations, "
            f"but its cuts take {'at least ' if open_ended else ''}{least}.",
        )


def _least_steps(entry: Masked) -> int:
    if isinstance(entry, Suppression):
        return 1 if entry.disclosed else 0
    return min(len(entry.blocks) - 1, 1) if isinstance(entry, Generalization) else len(entry.blocks) - 1
