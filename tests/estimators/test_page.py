"""The page about the transformers: its code runs and prints what the page says."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"
NUMBER = re.compile(r"\d+\.\d+")


def blocks(page: str) -> list[tuple[str, str]]:
    """Each piece of code and the output that follows it, if any."""
    return re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", page, re.DOTALL)


def printed(code: str, names: dict[str, object]) -> str:
    out = StringIO()
    with redirect_stdout(out):
        exec(compile(code, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    return out.getvalue()


def agree(said: str, told: str) -> bool:
    """The same words, and scores that other versions of scikit-learn may give too."""
    close = zip(NUMBER.findall(said), NUMBER.findall(told), strict=False)
    return NUMBER.sub("#", said) == NUMBER.sub("#", told) and all(abs(float(a) - float(b)) < 0.01 for a, b in close)


@pytest.mark.slow
def test_the_page_tells_the_truth():
    names: dict[str, object] = {}
    pieces = blocks(PAGE.read_text(encoding="utf-8"))
    assert len(pieces) == 3
    for code, told in pieces:
        said = printed(code, names)
        assert agree(said, told), said


def test_a_page_that_does_not_is_noticed():
    assert agree("k = 10: 0.849\n", "k = 10: 0.851\n")
    assert not agree("k = 10: 0.849\n", "k = 10: 0.879\n")
    assert not agree("k = 10: 0.849\n", "k = 20: 0.849\n")
