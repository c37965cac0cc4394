"""Demo: the bundled Adult data under each guarantee, verified, reported and tried on a classifier."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from unveil.errors import UnchargedWarning
from unveil.evaluation.classifiers import accuracy
from unveil.progress import Tasks, Watcher, unwatched
from unveil.release import Release, open_release, write_folder
from unveil.schema import Spec, load_spec
from unveil.verifier import Finding
from unveil.workflow.publish import publish
from unveil.workflow.report import report_to_file
from unveil.workflow.verify import verify

DATA = Path(str(files("unveil") / "data"))
SPECS = {"k-anonymity": "adult.toml", "templates": "adult-templates.toml", "differential privacy": "adult-private.toml"}


@dataclass(frozen=True)
class Published:
    """One release of the demo, and what came of it."""

    name: str
    spec: Spec
    place: Path
    accuracy: float
    findings: list[Finding]

    @cached_property
    def release(self) -> Release:
        """The release, from where it is."""
        return open_release(self.place)

    @property
    def report(self) -> Path | None:
        """The page about it; None for a release that does not verify."""
        return None if self.findings else self.place.with_suffix(".html")


@dataclass(frozen=True)
class Demo:
    """What the demo has to show."""

    published: list[Published]
    raw: float
    """The accuracy of a classifier that sees everything."""
    masked: float
    """The accuracy of one that sees nothing but the class."""
    people: tuple[pa.Table, pa.Table]
    """A few people as they are, and as the first release has them."""
    folder: Path


def demo(folder: Path, progress: Watcher = unwatched) -> Demo:
    """Publishes the training rows of Adult and tests what classifiers learn from them on the test rows.

    The releases and their pages go into a new folder, all or none.
    """
    found: list[Demo] = []
    write_folder(folder, lambda draft: found.append(_demo(draft, progress)), "demo")
    published = [replace(item, place=folder / item.place.name) for item in found[0].published]
    return replace(found[0], published=published, folder=folder)


def _demo(folder: Path, progress: Watcher) -> Demo:
    # They keep no owner's ledger: the data is public.
    specs = {name: replace(load_spec(DATA / file), is_file=False) for name, file in SPECS.items()}
    parts = Tasks(progress, "publishing Adult under three guarantees", 2 * len(specs) + 2)
    first = specs["k-anonymity"]
    adult = pa.parquet.read_table(first.source_path)
    train, test = (_complete(adult.filter(pc.equal(adult["split"], part)), first) for part in ("train", "test"))
    published = [_published(name, spec, train, test, folder, parts) for name, spec in specs.items()]
    known = [attribute.name for attribute in first.released] + [first.table.class_]
    some = train.select(known).take(pa.array(range(0, train.num_rows, train.num_rows // 2)))
    raw = accuracy(train.select(known), test.select(known), first.table.class_)
    parts.finish()
    masked = learned(publish(train, first, steps=0), test)
    parts.finish()
    return Demo(
        published=published,
        raw=raw,
        masked=masked,
        people=(some, published[0].release.masking.labels(some)),
        folder=folder,
    )


def learned(release: Release, test: pa.Table) -> float:
    """The accuracy, on test rows masked the same way, of a classifier trained on a release."""
    class_ = release.manifest.class_
    masked = release.masking.labels(test).append_column(class_, test[class_])
    return accuracy(release.to_rows(), masked, class_, release.masking)


def _published(name: str, spec: Spec, train: pa.Table, test: pa.Table, folder: Path, parts: Tasks) -> Published:
    place = folder / name.replace(" ", "-")
    with warnings.catch_warnings():
        # The rows are public, so nobody has to count what is drawn from them.
        warnings.simplefilter("ignore", UnchargedWarning)
        publish(train, spec).write(place)
    findings = verify(place)
    if not findings:
        report_to_file(place, place.with_suffix(".html"))
    parts.finish()
    share = learned(open_release(place), test)
    parts.finish()
    return Published(name, spec, place, share, findings)


def _complete(rows: pa.Table, spec: Spec) -> pa.Table:
    for name in rows.column_names:
        if pa.types.is_string(rows[name].type):
            rows = rows.filter(pc.invert(pc.is_in(rows[name], pa.array(spec.table.missing.values))))
    return rows
