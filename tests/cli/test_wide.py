"""A table of 300 columns and 10 classes, from a draft to a verified release."""

import random

from commands import Run
from project import Project


def test_300_columns_and_10_classes(project: Project, run: Run) -> None:
    generator = random.Random(0)  # noqa: S311 - made-up rows
    names = ["age", "town", *(f"q{number}" for number in range(298)), "target"]
    rows = [
        [str(generator.randrange(90)), generator.choice("abcd"), *generator.choices("xyz", k=298)] for _ in range(400)
    ]
    lines = [",".join([*row, f"class {int(row[0]) // 9}"]) for row in rows]
    project.table.write_text("\n".join([",".join(names), *lines]) + "\n")
    spec = project.folder / "draft.toml"
    assert run("init", project.table, "--to", spec).code == 0
    project.edit(spec, "draft = true", "")
    assert run("check", spec).code == 0
    assert run("publish", spec, "--to", project.release).code == 0
    assert run("verify", project.release, "--raw", spec).code == 0
    assert run("evaluate", spec, "--seeds", 1).code == 0
