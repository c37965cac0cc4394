"""The words that options accept and that `--help` lists are those of the code behind them."""

import re

import pytest

from commands import Run
from unveil.choices import ENGINES, FORMATS, INTERVALS, PLACES
from unveil.drafts import WAYS
from unveil.evaluation.classifiers import CLASSIFIERS


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("publish",), (*ENGINES, *PLACES, *FORMATS)),
        (("apply",), ("refuse", "suppress", *INTERVALS[:-1])),
        (("evaluate",), tuple(CLASSIFIERS)),
        (("taxonomy", "draft"), tuple(WAYS)),
    ],
)
def test_help_lists_every_choice(command: tuple[str, ...], words: tuple[str, ...], run: Run) -> None:
    shown = re.findall(r"\w+", run(*command, "--help").out)
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize("option", ["--unseen", "--intervals"])
def test_an_unknown_word_is_refused(option: str, run: Run) -> None:
    outcome = run("apply", "release", "rows.csv", "--to", "masked.csv", option, "unheard-of")
    assert outcome.code == 2
    assert f"Invalid value for '{option}'" in outcome.err


def test_intervals_of_pandas_cannot_be_written_to_a_file(run: Run) -> None:
    outcome = run("apply", "release", "rows.csv", "--to", "masked.csv", "--intervals", "interval")
    assert outcome.code == 2
    assert "Invalid value for '--intervals'" in outcome.err
