"""Rows that are not valid are left out alike by every engine."""

from __future__ import annotations

import pandas as pd
import pytest

import engines
import unveil
from noise.invalid import COLUMNS, SPEC, WAYS, content, counts
from project import Project
from unveil.schema import load_spec

pytestmark = pytest.mark.engines(*engines.ROWS)
ROWS = [b"x,30,0.1,2020-01-01,baker,1,0", b"x,140,0.2,2021-01-01,clerk,2,1"]


@pytest.fixture
def people(project: Project) -> Project:
    project.spec.write_text(SPEC)
    return project


def test_lines_of_a_file(people: Project) -> None:
    people.table.write_bytes(content(ROWS))
    expected = counts(unveil.publish(people.spec, unsafe_seed=1))
    assert sum(expected.values()) == 2
    people.table.write_bytes(content([*WAYS.values(), ROWS[0], *WAYS.values(), ROWS[1]]))
    assert counts(unveil.publish(people.spec, unsafe_seed=1)) == expected


def test_objects_of_a_frame(people: Project) -> None:
    spec = load_spec(people.spec)
    rows = [["x", 30, 0.1, pd.Timestamp("2020-01-01"), "baker", 1, 0], ["x", 140, 0.2, "2021-01-01", "clerk", 2.0, 1]]
    wrong = ["x", "forty", b"0.1", [2020], 7, None, True]
    spoiled = [[*rows[0][:place], wrong[place], *rows[0][place + 1 :]] for place in range(1, 7)]
    frame = pd.DataFrame([*rows, *spoiled], columns=COLUMNS)
    released = counts(unveil.publish(frame, spec, unsafe_seed=1))
    assert sum(released.values()) == 2
    assert released == counts(unveil.publish(pd.DataFrame(rows, columns=COLUMNS), spec, unsafe_seed=1))
