"""A table with secrets that a page must not tell, each of them easy to recognize."""

from pathlib import Path

import pytest

HIDDEN = ("Quirpon", "Zwolle")
"""Towns of few people; nobody declares the towns, so they are known from the raw table only."""
LOWEST, HIGHEST = "1237", "8761"
"""The extreme wages, one person each, inside a declared range."""
DROPPED = 137
ROWS = 4013

SPEC = """\
[table]
source  = "people.csv"
class   = "ill"
missing = { values = ["?"], rows = "drop" }

[attributes.name]
role = "identifier"

[attributes.wage]
kind  = "number"
range = [0, 10000]
whole = true

[attributes.job]
kind     = "category"
taxonomy = "job.tree"

[attributes.town]
kind = "category"

[attributes.score]
kind = "number"

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["wage", "job", "town"]
k                = 20

[publish]
search = "paper"
"""
TREE = "Any job\n  Office\n    clerk\n    lawyer\n  Craft\n    baker\n    smith\n"


def secret_project(folder: Path) -> Path:
    """Writes the table and its spec; gives the spec."""
    lines = ["name,wage,job,town,score,ill"]
    for i in range(ROWS):
        wage = 2000 + (i * 37) % 5000
        wage = int(LOWEST) if i == 17 else int(HIGHEST) if i == 42 else wage
        town = HIDDEN[i % 2] if i < 6 else ("Aarhus", "Bergen", "Cork")[(i * i) % 3]
        job = ("clerk", "lawyer", "baker", "smith")[(i // 7) % 4]
        ill = "yes" if wage > 4000 and job in ("clerk", "smith") else "no"
        lines.append(f"p{i},{wage},{job},{town},{i * 7919 % 999983},{ill}")
    lines += [f"q{i},?,clerk,Cork,1,yes" for i in range(DROPPED)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "job.tree").write_text(TREE, encoding="utf-8")
    spec = folder / "people.toml"
    spec.write_text(SPEC, encoding="utf-8")
    return spec


@pytest.fixture(scope="session")
def secret_spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return secret_project(tmp_path_factory.mktemp("secrets"))
