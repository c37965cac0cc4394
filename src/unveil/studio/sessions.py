"""A session: one tab, with its document, its table and the work that it waits for."""

from __future__ import annotations

import secrets
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from unveil.errors import SpecError, UnveilError
from unveil.progress import Watcher
from unveil.schema import Spec, Taxonomy, fraction
from unveil.schema.files import read_text
from unveil.studio.document import Document, branch_of, imported
from unveil.studio.paths import fresh, inside
from unveil.studio.work import Latest, Outbox, Superseded, problem_of
from unveil.workflow.bundle import publish_bundle, save
from unveil.workflow.live import Live, evaluation_facts, halting
from unveil.workflow.publish import check_read

SPEC = ".toml"
PAUSE = 0.15
"""This many seconds a page must be quiet before a classifier learns from what it shows."""
OFTEN = 0.1
"""This many seconds lie between two reports of progress."""


class Session:
    """A tab. Requests come from the server; answers that take time go to the outbox, each with the version it is of."""

    def __init__(self, folder: Path, file: str, loop: AbstractEventLoop) -> None:
        """Starts to read a table in the chosen folder, or a spec and its table. The loop empties the outbox.

        Nothing outside the folder is read by name or written.
        """
        self.name = secrets.token_urlsafe(12)
        self.outbox = Outbox(loop)
        self.seen = time.monotonic()
        """When somebody last listened or asked."""
        self._folder, self._file = folder, inside(folder, file)
        self._live: Live | None = None
        self._document: Document | None = None
        self._number = 0
        self._warned: tuple[object, list[str]] | None = None
        self._previews = False
        self._pictures = Latest(lambda error: self.outbox.put("problem", {"problem": problem_of(error)}))
        self._tasks = Latest(lambda error: self.outbox.put("failed", {"problem": problem_of(error)}))
        # No other wish may take the place of a release that the owner has asked for.
        self._releases = Latest(lambda error: self.outbox.put("failed", {"problem": problem_of(error)}))
        self._pictures.wish(self._open)

    def close(self) -> None:
        """Ends all work and lets go of the table."""
        self.outbox.close()
        for worker in (self._pictures, self._tasks, self._releases):
            worker.close()
        self._live = self._document = self._warned = None

    @property
    def document(self) -> Document:
        """The document, once the table is read."""
        if self._document is None:
            raise SpecError(f"{self._file.name}: the table is still being read.")
        return self._document

    @property
    def live(self) -> Live:
        """The table, once it is read."""
        if self._live is None:
            raise SpecError(f"{self._file.name}: the table is still being read.")
        return self._live

    def edit(self, operations: Sequence[Mapping[str, Any]], gesture: str | None) -> dict[str, Any]:
        """Performs edits, all or none, and starts to draw the release again."""
        with self.document.whole() as document:
            for operation in operations:
                # Edits that come together are undone together.
                document.edit(self._completed(operation), gesture or f"batch {self._number}")
        return self.changed()

    def undo(self) -> dict[str, Any]:
        """Goes back by an edit."""
        self.document.undo()
        return self.changed()

    def redo(self) -> dict[str, Any]:
        """Does again what was undone."""
        self.document.redo()
        return self.changed()

    def changed(self) -> dict[str, Any]:
        """The state after a change; the release follows."""
        self._number += 1
        state = self.state()
        if state["problem"] is None:
            self._pictures.wish(self._draw)
        return state

    def state(self) -> dict[str, Any]:
        """The spec as a page shows it."""
        document = self.document
        content: dict[str, Any] = {}
        guesses: list[str] = []
        problem = None
        try:
            content, guesses = document.content(), document.guesses()
            document.spec()
        except UnveilError as error:
            problem = str(error)
        return {
            "number": self._number,
            "text": document.version.text,
            "content": content,
            "guesses": guesses,
            "problem": problem,
            "undo": document.undoable,
            "redo": document.redoable,
            "spec": document.path.name,
            "files": [path.name for path in document.files()] if problem is None else [],
            "previews": self._previews,
        }

    def preview(self) -> dict[str, Any]:
        """From now on, draws private releases from a seed for the owner's eyes."""
        self._previews = True
        return self.changed()

    def tree(self, column: str) -> dict[str, Any]:
        """The taxonomy of a column; without one, all its values below one root."""
        found = self.document.tree(column)
        if found is not None:
            return {"tree": branch_of(found.root), "observed": found.observed, "drawn": True}
        profile = next((item for item in self.live.look.profiles if item.name == column), None)
        values = () if profile is None else sorted(profile.values)
        below = [{"label": value, "children": []} for value in values]
        mark = f"grouped by hand from the values of {column!r}; not public until a person removes this mark"
        return {"tree": {"label": f"Any {column}", "children": below}, "observed": mark, "drawn": False}

    def draft(self, column: str, by: str | None) -> dict[str, Any]:
        """Drafts the taxonomy of a column and takes it."""
        marks = self.document.content().get("table", {}).get("missing", {}).get("values", [""])
        tree, reason = self.live.draft(column, by or None, tuple(marks))
        return self._take(column, tree, reason)

    def load(self, column: str, name: str, text: str) -> dict[str, Any]:
        """Takes a taxonomy from the text of a file."""
        return self._take(column, imported(text, name, column), f"imported from {name}")

    def evaluate(self) -> None:
        """Evaluates the spec in full, in the background."""
        self._ask("evaluate", "evaluation", lambda spec, watch: evaluation_facts(self.live.evaluation(spec, watch)))

    def explain(self) -> None:
        """Says what each attribute waits for, in the background."""
        self._ask("explain", "reasons", lambda spec, watch: {"reasons": self.live.reasons(spec, watch)})

    def _ask(self, task: str, kind: str, answer: Callable[[Spec, Watcher], dict[str, Any]]) -> None:
        """Tells the page something about the spec that takes a while to find out."""
        spec, number = self._ready(), self._number

        def work(superseded: Superseded) -> None:
            self.outbox.put(kind, {**answer(spec, halting(superseded, self._progress(task))), "of": number})

        self._tasks.wish(work)

    def compare(self, key: str, values: Sequence[float]) -> None:
        """Shows the release under several values of k or ε, in the background."""
        spec, number = self._ready(), self._number
        specs = [_with(spec, key, value) for value in values]

        def work(superseded: Superseded) -> None:
            found: list[dict[str, Any]] = []
            for item in self.live.compared(specs, halting(superseded, self._progress("compare"))):
                found.append(item)
                self.outbox.put("comparison", {"key": key, "values": values, "found": list(found), "of": number})

        self._tasks.wish(work)

    def publish(self, to: str, epsilon: float | None) -> None:
        """Writes everything, in the background. A private release needs the ε that it costs, confirmed."""
        document, spec = self.document, self.document.spec()
        check_read(spec)
        folder = inside(self._folder, to)
        if folder == self._folder:
            raise SpecError("the new folder needs a name.")
        if spec.plan is not None and epsilon != float(spec.plan.epsilon):
            raise SpecError(f"this release costs ε = {float(spec.plan.epsilon):g}, which must be confirmed first.")
        files, before = document.files(), document.before()

        def work(superseded: Superseded) -> None:
            save(files, before, folder)
            document.saved(files)
            found = publish_bundle(document.path, folder, progress=self._progress("publish"))
            facts = {"guarantee": found.guarantee, "notes": found.notes, "files": found.files}
            self.outbox.put("published", {**facts, "folder": str(found.folder), "commands": document.commands(to)})

        self._releases.wish(work)

    def _open(self, superseded: Superseded) -> None:
        """Reads the table once; a table without a spec gets a first one, with every guess marked."""
        self.outbox.put("progress", {"task": "open", "what": f"reading {self._file.name}", "done": 0, "total": None})
        if self._file.suffix == SPEC:
            document = Document(read_text(self._file, "spec", SpecError), self._file)
            live = Live(_source(document))
        else:
            live = Live(self._file)
            path = fresh(self._file.with_suffix(SPEC))
            document = Document(live.first_spec(self._file, path), path, saved=False)
        if superseded():
            return
        self._live, self._document = live, document
        look = live.look
        self.outbox.put(
            "table",
            {
                "origin": look.rows.origin,
                "rows": look.guess.rows,
                "warnings": look.guess.warnings,
                "columns": [
                    {**asdict(profile), **_said(guess)}
                    for guess, profile in zip(look.guess.columns, look.profiles, strict=True)
                ],
            },
        )
        self.outbox.put("state", self.changed())

    def _draw(self, superseded: Superseded) -> None:
        """Draws the release as it would be, then what it is worth, then what may undo its promise."""
        number, document, live = self._number, self.document, self.live
        spec = document.spec()
        if spec.plan is not None and not self._previews:
            self.outbox.put("picture", {"of": number, "withheld": True, "guarantee": " ".join(spec.promises)})
            return
        try:
            picture, release = live.picture(spec, halting(superseded, self._progress("draw")))
            if superseded():
                return
            self.outbox.put("picture", {"of": number, **picture})
            if _moved_on(superseded):
                return
            figures = live.figures(spec, release)
            del release
            if superseded():
                return
            self.outbox.put("figures", {"of": number, **figures})
            self.outbox.put("warnings", {"of": number, "warnings": self._warnings(spec, live)})
        except UnveilError as error:
            if not superseded():
                self.outbox.put("picture", {"of": number, "problem": str(error)})

    def _warnings(self, spec: Spec, live: Live) -> list[str]:
        """What may undo the promise; looked for only if other columns are masked than before."""
        key = spec.masked, spec.as_is, spec.table, tuple(item.kind for item in spec.released)
        if self._warned is None or self._warned[0] != key:
            self._warned = key, live.warnings(spec)
        return self._warned[1]

    def _take(self, column: str, tree: Taxonomy, reason: str) -> dict[str, Any]:
        self.document.edit({"do": "taxonomy", "column": column, "tree": tree})
        return {**self.changed(), "reason": reason}

    def _completed(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        """An edit with what only the table knows: the domain to declare, the kind that a column seems to be of."""
        column = operation.get("column")
        if operation.get("do") == "declare" and "domain" not in operation:
            return {**operation, "domain": self.live.domain(str(column))}
        if operation.get("do") == "role" and "kind" not in operation:
            guess = next((item for item in self.live.look.guess.columns if item.name == column), None)
            kind = guess.role if guess is not None and guess.role in ("number", "date") else "category"
            return {**operation, "kind": kind}
        return operation

    def _ready(self) -> Spec:
        """The spec, if the page may show what its release would be."""
        spec = self.document.spec()
        if spec.plan is not None and not self._previews:
            raise SpecError("a preview of a private release is computed from the raw rows; allow previews first.")
        return spec

    def _progress(self, task: str) -> Watcher:
        last = 0.0

        def watch(what: str, done: int, total: int | None) -> None:
            nonlocal last
            if time.monotonic() - last > OFTEN:
                last = time.monotonic()
                self.outbox.put("progress", {"task": task, "what": what, "done": done, "total": total})

        return watch


def _moved_on(superseded: Superseded) -> bool:
    """Waits a moment before work that takes longer than a picture: while a slider moves, nobody looks at it."""
    end = time.monotonic() + PAUSE
    while time.monotonic() < end:
        if superseded():
            return True
        time.sleep(PAUSE / 10)
    return superseded()


def _source(document: Document) -> Any:
    """The table of a spec that may break a rule: only where it is must be right."""
    table = document.content().get("table", {})
    source = table.get("source") if isinstance(table, dict) else None
    if not isinstance(source, str):
        raise SpecError(f"{document.path.name}: [table] names no source.")
    if table.get("query") is not None:
        return document.spec().source
    return document.path.parent / source


def _said(guess: Any) -> dict[str, Any]:
    """What `init` thinks of a column."""
    return {
        "guess": guess.role,
        "reason": guess.reason,
        "risk": guess.risk,
        "person": guess.person,
        "survey": guess.role == "survey-weight",
        "known": guess.known,
    }


def _with(spec: Spec, key: str, value: float) -> Spec:
    """The spec with another k in every requirement that has one, or with another ε."""
    if key == "epsilon" and spec.plan is not None:
        return replace(spec, plan=replace(spec.plan, epsilon=fraction(value)))
    if key != "k" or value < 1:
        raise SpecError(f"a release is compared under values of k or ε, not of {key!r} = {value}.")
    changed = tuple(
        item.model_copy(update={"k": int(value)}) if hasattr(item, "k") else item for item in spec.requirements
    )
    return replace(spec, requirements=changed)
