"""Taxonomies written and read again: the same tree in every format, or one sentence and no text."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schema.sentences import sentence
from unveil.errors import TaxonomyError
from unveil.schema import Branch, Node, Taxonomy, read_taxonomy, taxonomy_text

FORMATS = (".tree", ".csv", ".hchy")
ODD = " \t#\"';,{}|:\\\n\r\x0b\x85\u2028\ufeff\u200c⊥*éßЖ日א"
LABELS = st.one_of(st.text(ODD, min_size=1, max_size=6), st.text(min_size=1, max_size=8)).filter(
    lambda text: text != "⊥"
)


@st.composite
def branches(draw: st.DrawFn) -> Branch:
    """A tree of distinct labels: each label but the first hangs below one before it."""
    labels = draw(st.lists(LABELS, min_size=2, max_size=10, unique=True))
    nodes: list[Branch] = [(label, []) for label in labels]
    for place, node in enumerate(nodes[1:], start=1):
        nodes[draw(st.integers(0, place - 1))][1].append(node)
    return nodes[0]


def branch(node: Node) -> Branch:
    return node.label, [branch(child) for child in node.children]


def labels(tree: Branch) -> list[str]:
    return [tree[0], *(label for below in tree[1] for label in labels(below))]


def cannot(label: str, ending: str) -> bool:
    """What the format has no way to say."""
    outer = label != label.strip()
    return {
        ".tree": False,
        ".csv": outer or "\r" in label or label[0] == "\ufeff",
        ".hchy": outer or any(character in label for character in "{}|\r\n"),
    }[ending]


def through(taxonomy: Taxonomy, ending: str, folder: Path) -> Taxonomy:
    file = folder / f"copy{ending}"
    file.write_bytes(taxonomy_text(taxonomy, file, "job").encode())
    return read_taxonomy(file, "job")


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
@settings(deadline=None)
@given(tree=branches())
@example(tree=("Any", [("a;b", [("#1", []), ('"x"', [])]), ("é,", [])]))
@example(tree=("\ufeffAny", [("a", [])]))
@example(tree=("Any", [("a\nb", []), ("c\x85d\u2028e", [])]))
def test_every_pair_of_formats(first: str, second: str, tree: Branch) -> None:
    taxonomy = Taxonomy(tree)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for ending in (first, second):
            if any(cannot(label, ending) for label in labels(tree)):
                message = sentence(TaxonomyError, lambda: taxonomy_text(taxonomy, folder / f"x{ending}", "job"))  # noqa: B023
                assert "cannot be written" in message
                return
            taxonomy = through(taxonomy, ending, folder)
        assert branch(taxonomy.root) == tree


@settings(deadline=None)
@given(tree=branches(), mark=st.text("abc |:#é", max_size=10).map(str.strip))
@pytest.mark.parametrize("ending", [".tree", ".hchy"])
def test_the_mark_of_a_draft_is_kept(ending: str, tree: Branch, mark: str) -> None:
    if any(cannot(label, ending) for label in labels(tree)):
        return
    with tempfile.TemporaryDirectory() as name:
        again = through(Taxonomy(tree, observed=mark), ending, Path(name))
    assert again.observed == mark
    assert branch(again.root) == tree


def test_csv_cannot_carry_the_mark_of_a_draft() -> None:
    taxonomy = Taxonomy(("Any", [("a", [])]), "job.tree", observed="drafted")
    message = sentence(TaxonomyError, lambda: taxonomy_text(taxonomy, Path("job.csv"), "job"))
    assert message.startswith("job.tree: ARX csv cannot hold the mark")


@pytest.mark.parametrize("name", ["", "vid", "classes", "a:b", "a{", "a|b", " a", "a\nb", "\ufeffa"])
def test_a_name_that_hchy_would_read_otherwise_is_refused(name: str) -> None:
    taxonomy = Taxonomy(("Any", [("a", [])]), "job.tree")
    message = sentence(TaxonomyError, lambda: taxonomy_text(taxonomy, Path("job.hchy"), name))
    assert repr(name) in message


@settings(deadline=None)
@given(name=st.text(ODD + "ab", min_size=1, max_size=6))
def test_a_name_that_hchy_takes_is_found_again(name: str) -> None:
    taxonomy = Taxonomy(("Any", [("a", [])]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.hchy"
        try:
            file.write_bytes(taxonomy_text(taxonomy, file, name).encode())
        except TaxonomyError:
            return
        assert read_taxonomy(file, name).leaves == ("a",)
        assert read_taxonomy(file).leaves == ("a",)


def test_another_ending_is_refused() -> None:
    taxonomy = Taxonomy(("Any", [("a", [])]))
    message = sentence(TaxonomyError, lambda: taxonomy_text(taxonomy, Path("job.xlsx"), "job"))
    assert message == "job.xlsx: a taxonomy file must end in one of .tree, .csv, .hchy."


# ---- What round trips showed ----


def write(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_bytes(content.encode())
    return folder / name


def test_a_quoted_label_of_a_tree_is_json(tmp_path: Path) -> None:
    file = write(tmp_path, "job.tree", 'Any\n  "# 1"\n  "two\\nlines"\n  say "hi"\n')
    assert read_taxonomy(file).leaves == ("# 1", "two\nlines", 'say "hi"')


def test_a_quote_that_is_not_json_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "job.tree", 'Any\n  "a" and b\n')
    message = sentence(TaxonomyError, lambda: read_taxonomy(file))
    assert message == 'job.tree: line 2: "a" and b begins with a quote but is not a label in JSON quotes.'


def test_a_line_break_within_quotes_of_a_csv_is_kept(tmp_path: Path) -> None:
    file = write(tmp_path, "job.csv", '"a\nb";*\n"c\u2028d";*\n')
    assert read_taxonomy(file).leaves == ("a\nb", "c\u2028d")


def test_a_quoted_semicolon_does_not_make_a_csv_with_commas_one_with_semicolons(tmp_path: Path) -> None:
    file = write(tmp_path, "job.csv", '"Clerk; retired",*\nFarmer,*\n')
    assert read_taxonomy(file).leaves == ("Clerk; retired", "Farmer")


def test_a_tree_too_deep_to_walk_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "job.tree", "".join("  " * level + f"{level}\n" for level in range(5000)))
    message = sentence(TaxonomyError, lambda: read_taxonomy(file))
    assert message == "job.tree: the label '100' is more than 100 levels deep."


def test_a_hchy_file_with_several_trees_asks_for_a_name(tmp_path: Path) -> None:
    file = write(tmp_path, "x.hchy", "sex:discrete\n{Any {F} {M}}\njob:discrete | observed: by hand\n{Any {a} {b}}\n")
    message = sentence(TaxonomyError, lambda: read_taxonomy(file))
    assert message == "x.hchy: it has trees for 'sex', 'job'; name one of these attributes."
    assert read_taxonomy(file, "sex").observed is None
    assert read_taxonomy(file, "job").observed == "by hand"
