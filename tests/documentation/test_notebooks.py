"""The notebooks run in a fresh kernel and show what is stored with them; and the check of that can fail."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebook import notebook_page

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def check(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "notebooks.py"), str(path), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(path: Path, *cells: nbformat.NotebookNode) -> Path:
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), *cells]), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path: Path) -> None:
    done = check(path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_three_that_were_run() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["differential-privacy", "k-anonymity", "templates"]
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        assert "/tmp/" not in path.read_text(encoding="utf-8")  # noqa: S108 - nothing of the machine is stored


def test_a_cell_that_raises_and_one_that_shows_something_else_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "x.ipynb", new_code_cell("1 / 0"))
    raised = check(path)
    assert raised.returncode == 1
    assert "ZeroDivisionError" in raised.stdout
    changed = new_code_cell("print(2)", outputs=[new_output("stream", name="stdout", text="1\n")])
    drawn = new_code_cell("print(2)", outputs=changed.outputs, metadata={"tags": ["drawn"]})
    assert "cell 2 shows" in check(write(path, changed, drawn)).stdout
    assert check(path, "--write").returncode == 0
    assert check(path).returncode == 0


def test_a_page_has_text_code_and_outputs(tmp_path: Path) -> None:
    rich = new_output("execute_result", data={"text/html": "<p>a</p>\n\n<p>b</p>", "text/plain": "plain"})
    image = new_output("display_data", data={"image/png": "QUJD\n", "text/plain": "figure"})
    plain = new_output("execute_result", data={"text/plain": "3"})
    printed = new_output("stream", name="stdout", text="words\n")
    cells = [new_code_cell("f()", outputs=[rich, image, plain, printed]), new_markdown_cell("[x](../y.md)")]
    page = notebook_page(write(tmp_path / "x.ipynb", *cells))
    assert page.startswith("# Title\n\n<p>This page is a notebook")
    assert "````python\nf()\n````" in page
    assert '<div class="output">\n<p>a</p>\n<p>b</p>\n</div>' in page
    assert 'src="data:image/png;base64,QUJD"' in page
    assert "````text\n3\n````" in page
    assert "````text\nwords\n````" in page
    assert "plain" not in page
    assert page.endswith("[x](../y.md)\n")
