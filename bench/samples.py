"""The tables that releases are compared on: Adult by three requirements, and Census-Income where it is given.

The papers' authors and ARX have taxonomies for Adult. They are used where they are, and the bundled ones elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from blowup import original_records
from domains import Categories, Domain, Domains, Numbers, flat
from places import BUNDLED, SHARED
from settings import CLASS, GA, RANGES, taxonomy_file

from unveil.evaluation.protocol import Holdout
from unveil.schema import Taxonomy, load_spec
from unveil.schema.taxonomy import Node
from unveil.schema.taxonomy_files import read_taxonomy

KS = (20, 100, 500)
TOP7 = ("age", "education-num", "marital-status", "relationship", "sex", "capital-gain", "hours-per-week")
OTHERS = ("workclass", "education", "occupation", "race", "capital-loss", "native-country")
"""Released as they are next to Top7."""
AUTHORS_SPELLING = {"marital-status": "martial-status"}
CENSUS = {
    "age": 0,
    "class-of-worker": 1,
    "education": 4,
    "marital-status": 7,
    "occupation": 9,
    "race": 10,
    "sex": 12,
    "country-of-birth": 34,
}
"""Fields of Census-Income as near as they come to the 8 attributes of Adult, and where they are."""
CENSUS_FIELDS, CENSUS_AGES = 42, (0, 91)

Section = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A table with its splits into training and test rows, and the quasi-identifiers that k-anonymity is asked for."""

    name: str
    rows: pa.Table
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    class_: str
    sections: Mapping[str, Section]
    """What a spec says of each attribute that is released."""
    qids: Sequence[tuple[str, ...]]

    @property
    def masked(self) -> list[str]:
        return [name for name in self.sections if any(name in qid for qid in self.qids)]

    def spec(self, k: int, publish: Section) -> Section:
        require = [{"kind": "k-anonymity", "quasi-identifier": list(qid), "k": k} for qid in self.qids]
        attributes = dict(self.sections)
        return {"table": {"class": self.class_}, "attributes": attributes, "require": require, "publish": publish}

    def domains(self) -> Domains:
        """What the labels of the masked attributes cover."""
        return {name: self._domain(name) for name in self.masked}

    def _domain(self, name: str) -> Domain:
        section, held = self.sections[name], sorted(self.rows[name].unique().to_pylist())
        if section["kind"] == "number":
            return Numbers(*section["range"], np.array(held))
        return Categories(tuple(_paths(section["taxonomy"].root, ()))) if "taxonomy" in section else flat(held)


def _paths(node: Node, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    path = (*above, node.label)
    return [below for child in node.children for below in _paths(child, path)] if node.children else [path]


def adult_8(splits: int) -> Sample:
    return _adult("Adult, 8 attributes", splits, {name: _section(name, _arx) for name in GA}, [GA])


def adult_top7(splits: int) -> Sample:
    return _adult("Adult, Top7", splits, {name: _section(name, _authors) for name in (*TOP7, *OTHERS)}, [TOP7])


def adult_three(splits: int) -> Sample:
    """The bundled spec, whose three quasi-identifiers share attributes."""
    spec = load_spec(BUNDLED / "adult.toml")
    qids = [tuple(requirement.quasi_identifier) for requirement in spec.requirements]
    held = [name for name in original_records().column_names if any(name in qid for qid in qids)]
    return _adult("Adult, 3 quasi-identifiers", splits, {name: _section(name, _bundled) for name in held}, qids)


def census(splits: int) -> Sample | None:
    """Census-Income with its own split first, then random ones; nothing where it is not given."""
    files = census_files()
    if files is None:
        return None
    parts = [_census_rows(file) for file in files]
    rows, train = pa.concat_tables(parts), parts[0].num_rows
    sections = {name: {"kind": "category"} for name in CENSUS}
    sections["age"] = {"kind": "number", "range": list(CENSUS_AGES), "whole": True}
    own = np.arange(train), np.arange(train, rows.num_rows)
    parted = [own, *_holdouts(rows, splits - 1)]
    return Sample("Census-Income, 8 attributes", rows, parted, CLASS, sections, [tuple(CENSUS)])


def census_files() -> list[Path] | None:
    """Census-Income, to train and to test; nothing where it is not given."""
    files = [SHARED / "large" / f"census_income_1994_1995_{part}.csv.zst" for part in ("train", "test")]
    return files if all(file.exists() for file in files) else None


SAMPLES: dict[str, Callable[[int], Sample | None]] = {
    "adult-8": adult_8,
    "adult-top7": adult_top7,
    "adult-three": adult_three,
    "census": census,
}


def _adult(name: str, splits: int, sections: Mapping[str, Section], qids: Sequence[tuple[str, ...]]) -> Sample:
    rows = original_records().select([*sections, CLASS])
    return Sample(name, rows, _holdouts(rows, splits), CLASS, sections, qids)


def _holdouts(rows: pa.Table, splits: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random splits, a third to test; the same in every run."""
    return [(split.train, split.test) for split in Holdout(seeds=range(splits)).splits(rows)] if splits > 0 else []


def _section(name: str, taxonomy: Callable[[str], Taxonomy]) -> Section:
    if name in RANGES:
        return {"kind": "number", "range": list(RANGES[name]), "whole": True}
    return {"kind": "category", "taxonomy": taxonomy(name)}


def _bundled(name: str) -> Taxonomy:
    return read_taxonomy(taxonomy_file(name))


def _arx(name: str) -> Taxonomy:
    file = SHARED / "taxonomies" / "arx" / f"adult_hierarchy_{name}.csv"
    return read_taxonomy(file) if file.exists() else _bundled(name)


def _authors(name: str) -> Taxonomy:
    file = SHARED / "taxonomies" / "authors" / "adult.hchy"
    return read_taxonomy(file, AUTHORS_SPELLING.get(name, name)) if file.exists() else _bundled(name)


@cache
def _census_rows(file: Path) -> pa.Table:
    """The fields that are used; the class says on which side of 50,000."""
    rows = census_text(file)
    held = {name: rows[str(place)] for name, place in CENSUS.items()}
    held["age"] = held["age"].cast(pa.int64())
    return pa.table({**held, CLASS: rows[str(CENSUS_FIELDS - 1)]})


def census_text(file: Path) -> pa.Table:
    """All fields, named by their places, as text without the space before each."""
    names = [str(place) for place in range(CENSUS_FIELDS)]
    options = pa.csv.ReadOptions(column_names=names)
    text = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    with pa.CompressedInputStream(pa.OSFile(str(file)), "zstd") as stream:
        rows = pa.csv.read_csv(stream, options, convert_options=text)
    return pa.table({name: pc.utf8_trim_whitespace(rows[name]) for name in names})
