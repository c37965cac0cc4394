"""The commands that the documentation shows print what it says they print; and the check of that can fail."""

import subprocess
import sys
from pathlib import Path

import pytest
from transcripts import TranscriptError, rerun, transcripts

ROOT = Path(__file__).resolve().parents[2]
FENCE = "```"


def page(body: str, mark: str = "") -> str:
    comment = f"<!-- transcript: {mark} -->\n" if mark else ""
    return f"# Page\n\n{comment}{FENCE}console\n{body}{FENCE}\n\nmore text\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_a_page_shows_what_its_commands_print(path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "transcripts.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_page_is_found_and_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(page("$ echo new\nold\n"))
    command = [sys.executable, str(ROOT / "scripts" / "transcripts.py"), str(file)]
    stale = subprocess.run(command, capture_output=True, text=True, check=False)
    assert stale.returncode == 1
    assert "-old\n+new\n" in stale.stdout
    assert subprocess.run([*command, "--write"], check=False).returncode == 0
    assert file.read_text() == page("$ echo new\nnew\n")
    assert subprocess.run(command, check=False).returncode == 0


def test_commands_may_go_on_and_follow_each_other(tmp_path: Path) -> None:
    text = page(
        "$ cat <<'END'\n> one\n>\n> two\n> END\none\n\ntwo\n\n$ true\n$ echo last; echo error >&2\nlast\nerror\n"
    )
    assert rerun(text, tmp_path, keep=True) == text


def test_a_block_with_a_title_is_a_file(tmp_path: Path) -> None:
    text = f'{FENCE}toml title="a.toml"\nk = 1\n{FENCE}\n\n' + page("$ cat a.toml\nk = 1\n")
    assert rerun(text, tmp_path, keep=True) == text


def test_random_output_is_kept_unless_it_is_written(tmp_path: Path) -> None:
    text = page("$ echo 2\n1\n", "drawn")
    assert rerun(text, tmp_path, keep=True) == text
    assert rerun(text, tmp_path, keep=False) == page("$ echo 2\n2\n", "drawn")


def test_of_figures_the_words_are_compared(tmp_path: Path) -> None:
    assert rerun(page("$ echo error 14.2%\nerror 13%\n", "figures"), tmp_path, keep=True).count("13%") == 1
    assert rerun(page("$ echo mistakes 14.2%\nerror 13%\n", "figures"), tmp_path, keep=True).count("error") == 0


def test_data_that_is_not_here_leaves_a_block_alone(tmp_path: Path) -> None:
    text = page("$ cat census.csv\nold\n", "needs census.csv")
    assert rerun(text, tmp_path, keep=True) == text
    (tmp_path / "census.csv").write_text("new\n")
    assert rerun(text, tmp_path, keep=True) == page("$ cat census.csv\nnew\n", "needs census.csv")


@pytest.mark.parametrize(("body", "mark"), [("$ true\n", "drwan"), ("no command\n", "")])
def test_a_page_that_cannot_be_run_says_why(body: str, mark: str, tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"transcript cannot be 'drwan'|begins with a command"):
        rerun(page(body, mark), tmp_path, keep=True)


def test_there_are_transcripts() -> None:
    assert {"tutorial", "exit-codes", "prove"} <= {path.stem for path in transcripts()}
