"""Demo: the bundled Adult data, published, verified and tried on a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from unveil.evaluate import accuracy
from unveil.release import RefinementManifest, Release, open_release
from unveil.schema import Spec, load_spec
from unveil.verify import Finding
from unveil.workflow.publish import publish
from unveil.workflow.verify import verify

DATA = Path(str(files("unveil") / "data"))


@dataclass(frozen=True)
class Demo:
    """What the demo has to show."""

    spec: Spec
    release: Release
    manifest: RefinementManifest
    people: tuple[pa.Table, pa.Table]
    """A few people as they are, and as they are released."""
    accuracies: dict[str, float]
    findings: list[Finding]
    folder: Path


def demo(folder: Path) -> Demo:
    """Publishes the training rows of Adult and tests what classifiers learn from them on the test rows."""
    spec = load_spec(DATA / "adult.toml")
    adult = pa.parquet.read_table(spec.source_path)
    train, test = (adult.filter(pc.equal(adult["split"], part)) for part in ("train", "test"))
    publish(train, spec).write(folder)
    release = open_release(folder)
    if not isinstance(release.manifest, RefinementManifest):
        raise TypeError("the bundled spec is one of refinement")
    train, test = _complete(train, spec), _complete(test, spec)
    class_ = spec.table.class_
    known = [*release.masking, class_]

    def learned(made: Release) -> float:
        return accuracy(made.table, made.masking.apply(test).append_column(class_, test[class_]), class_)

    some = train.select(known).take(pa.array(range(0, train.num_rows, train.num_rows // 2)))
    return Demo(
        spec=spec,
        release=release,
        manifest=release.manifest,
        people=(some, release.masking.apply(some)),
        accuracies={
            "raw data": accuracy(train.select(known), test.select(known), class_),
            "this release": learned(release),
            "everything masked": learned(publish(train, spec, steps=0)),
        },
        findings=verify(folder),
        folder=folder,
    )


def _complete(rows: pa.Table, spec: Spec) -> pa.Table:
    """The rows without missing values."""
    keep = pa.array([True] * rows.num_rows)
    for name in rows.column_names:
        if pa.types.is_string(rows[name].type):
            keep = pc.and_(keep, pc.invert(pc.is_in(rows[name], pa.array(spec.table.missing.values))))
    return rows.filter(keep)
