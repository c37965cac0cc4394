"""Audit: collects what the owner files about a release, runs the checks and attacks again, and signs both."""

from __future__ import annotations

import datetime
import hashlib
import platform
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from unveil.errors import ReleaseError, SpecError, UnverifiedError
from unveil.progress import Watcher, unwatched
from unveil.publishers.budget import ledger_of, read_ledger, rows_of
from unveil.release import Release, check_absent, open_release, write_text
from unveil.release.folder import MANIFEST
from unveil.release.signature import ENDING, named_by, signature
from unveil.reports import Audit, Paper, audit_page
from unveil.schema import Spec, load_spec
from unveil.version import __version__
from unveil.workflow.attack import attack
from unveil.workflow.verify import verify

LIBRARIES = ("numpy", "numba", "pyarrow", "pydantic")
"""What a release depends on."""
HOLDS = "every claim holds"
SIGNED = "the holder of {} released it on {}"


def audit(
    release: Path, raw: Path, earlier: Path | None, sample: int | None, key: Path | None, progress: Watcher
) -> str:
    """The audit of a release by the owner's spec file, as an HTML page; refuses one with a claim that does not hold."""
    if not raw.is_file():
        raise SpecError(f"{raw}: an audit files the spec, but there is no such file.")
    spec = load_spec(raw)
    name = None if key is None else named_by(key)
    findings = verify(release, spec, progress=progress)
    if findings:
        raise UnverifiedError(f"{release}: {findings[0]}")
    opened = open_release(release)
    found = attack(release, spec, earlier=earlier, sample=sample, progress=progress)
    checks = [
        (f"unveil verify {release.name} --raw {raw.name}", HOLDS),
        (f"unveil attack {release.name} --raw {raw.name}", found.summary),
    ]
    return audit_page(
        Audit(
            release=opened,
            day=_today(),
            files=list(_files(release, opened)),
            papers=list(_papers(raw)),
            versions=_versions(opened),
            checks=checks,
            notes=findings.notes,
            exposure=found,
            spent=_spent(spec),
            key=name,
        )
    )


def audit_to_file(
    release: Path,
    target: Path,
    raw: Path,
    *,
    earlier: Path | None = None,
    sample: int | None = None,
    key: Path | None = None,
    progress: Watcher = unwatched,
) -> list[Path]:
    """Writes the audit of a release, private to its owner, whole or not at all; gives what was written.

    With the owner's private key, the signatures of the release and of the page are written too. An earlier release of
    people in common is attacked together with this one; of the raw table, at most `sample` rows are used for that.
    """
    if release.absolute() in target.absolute().parents:
        raise ReleaseError(f"{target}: an audit cannot be written into the release {release}: it is private.")
    places = [release / f"{MANIFEST}{ENDING}", target.with_name(target.name + ENDING)]
    check_absent(target, "audit")
    for place in places if key is not None else ():
        check_absent(place, "signature")
    page = audit(release, raw, earlier, sample, key, progress)
    write_text(target, page, "audit")
    if key is None:
        return [target]
    about = SIGNED.format(named_by(key), _today())
    for place, content in zip(places, ((release / MANIFEST).read_bytes(), page.encode()), strict=True):
        write_text(place, signature(content, key, about), "signature")
    return [target, *places]


def _files(folder: Path, release: Release) -> Iterator[Paper]:
    yield Paper(MANIFEST, _sha256((folder / MANIFEST).read_bytes()))
    for name, file in release.manifest.files.items():
        yield Paper(name, file.sha256)


def _papers(spec: Path) -> Iterator[Paper]:
    """The spec and the files that it names, as they are now."""
    content = spec.read_bytes()
    yield Paper(spec.name, _sha256(content), content.decode())
    for name in dict.fromkeys(_named(content.decode())):
        held = (spec.parent / name).read_bytes()
        yield Paper(name, _sha256(held), held.decode(errors="replace"))


def _named(text: str) -> Iterator[str]:
    """The taxonomies and labels in files of their own."""
    for attribute in tomllib.loads(text).get("attributes", {}).values():
        for key in ("taxonomy", "labels"):
            if isinstance(attribute.get(key), str):
                yield attribute[key]


def _versions(release: Release) -> dict[str, str]:
    made = {"unveil of the release": release.manifest.unveil_version, "unveil of this page": __version__}
    return made | {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def _spent(spec: Spec) -> list[tuple[str, str]]:
    """The entries of the owner's ledger, if there is one."""
    if spec.table.source is None:
        return []
    ledger = ledger_of(spec, rows_of(spec, spec.source))
    entries = [] if ledger is None else read_ledger(ledger)
    return [(str(entry.get("spec", "")), entry["epsilon"]) for entry in entries]


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
