"""The spec file: what an owner may write, and the sentence that each mistake is answered with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from schema.sentences import sentence
from unveil.errors import SpecError, TaxonomyError
from unveil.schema import Attribute, KAnonymity, Missing, Spec, load_spec

WARD = """\
[table]
source = "ward.csv"
class = "outcome"

[attributes.name]
role = "identifier"

[attributes.age]
kind = "number"
range = [0, 120]
whole = true

[attributes.job]
kind = "category"
taxonomy = "job.tree"

[attributes.city]
kind = "category"
values = ["Bern", "Basel"]

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age", "job"]
k = 5
"""

Load = Callable[[str | bytes], Spec]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Writes the text to ward.toml, next to the taxonomies it names, and reads it."""
    (tmp_path / "job.tree").write_text("Any\n  Office\n    Clerk\n    Manager\n  Farmer\n")
    (tmp_path / "twice.tree").write_text("Any\n  Clerk\n  Clerk\n")

    def load(text: str | bytes) -> Spec:
        file = tmp_path / "ward.toml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_spec(file)

    return load


def changed(old: str, new: str) -> str:
    assert WARD.count(old) == 1
    return WARD.replace(old, new)


# ---- What may be written ----


def test_a_spec_says_all_of_this(load: Load, tmp_path: Path) -> None:
    spec = load(WARD)
    assert list(spec.attributes) == ["name", "age", "job", "city"]
    assert spec.attributes["name"] == Attribute("name", role="identifier")
    assert spec.attributes["age"] == Attribute("age", kind="number", range=(0, 120), whole=True)
    assert spec.attributes["city"] == Attribute("city", values=("Bern", "Basel"))
    assert spec.attributes["job"].taxonomy is not None
    assert spec.attributes["job"].taxonomy.leaves == ("Clerk", "Manager", "Farmer")
    assert spec.requirements == (KAnonymity(quasi_identifier=("age", "job"), k=5),)
    assert [attribute.name for attribute in spec.released] == ["age", "job", "city"]
    assert spec.masked == {"age", "job"}
    assert spec.source_path == tmp_path / "ward.csv"
    assert spec.origin == "ward.toml"


def test_what_is_not_said(load: Load) -> None:
    spec = load(WARD)
    assert spec.table.missing == Missing(values=("",), rows="refuse")
    assert spec.table.others == "refuse"
    assert spec.table.weight is None
    assert spec.table.class_values is None
    assert spec.criterion == "score"


def test_every_key_of_the_table(load: Load) -> None:
    table = 'class = "outcome"\nmissing = { values = ["?", ""], rows = "drop" }\nothers = "release"\nweight = "n"\n'
    spec = load(changed('class = "outcome"\n', table))
    assert spec.table.missing == Missing(("?", ""), "drop")
    assert spec.table.others == "release"
    assert spec.table.weight == "n"


@pytest.mark.parametrize("others", ["refuse", "drop", "release"])
def test_what_may_happen_to_other_columns(load: Load, others: str) -> None:
    assert load(changed('class = "outcome"', f'class = "outcome"\nothers = "{others}"')).table.others == others


def test_a_number_may_have_a_step_and_a_domain_may_be_left_to_the_data(load: Load) -> None:
    assert load(changed("whole = true", "step = 0.25")).attributes["age"].step == 0.25
    assert not load(changed("range = [0, 120]\n", "")).attributes["age"].declared
    assert not load(changed('values = ["Bern", "Basel"]\n', "")).attributes["city"].declared


def test_the_labels_of_the_class_may_be_declared(load: Load) -> None:
    spec = load(WARD + '[attributes.outcome]\nvalues = ["cured", "not cured"]\n')
    assert spec.table.class_values == ("cured", "not cured")
    assert "outcome" not in spec.attributes


def test_several_requirements_each_with_its_own_k(load: Load) -> None:
    spec = load(WARD + '[[require]]\nkind = "k-anonymity"\nquasi-identifier = ["city"]\nk = 20\n')
    assert spec.requirements == (
        KAnonymity(quasi_identifier=("age", "job"), k=5),
        KAnonymity(quasi_identifier=("city",), k=20),
    )
    assert spec.masked == {"age", "job", "city"}


@pytest.mark.parametrize("criterion", ["score", "infogain"])
def test_the_criterion(load: Load, criterion: str) -> None:
    assert load(WARD + f'[publish]\nmethod = "refinement"\ncriterion = "{criterion}"\n').criterion == criterion


@pytest.mark.parametrize("bounds", ["round", "observed"])
def test_the_bounds(load: Load, bounds: str) -> None:
    assert load(WARD + f'[publish]\nbounds = "{bounds}"\n').bounds == bounds
    assert load(WARD).bounds == "round"


def test_names_may_hold_anything_that_toml_can_quote(load: Load) -> None:
    text = WARD.replace("[attributes.city]", '[attributes."city of birth (Ö)"]')
    assert list(load(text).attributes)[-1] == "city of birth (Ö)"


def test_a_spec_may_begin_with_a_byte_order_mark(load: Load) -> None:
    assert load(b"\xef\xbb\xbf" + WARD.encode()).requirements == load(WARD).requirements


def test_a_spec_may_be_a_mapping_or_a_spec() -> None:
    content = {
        "table": {"class": "outcome"},
        "attributes": {"city": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["city"], "k": 2}],
    }
    spec = load_spec(content)
    assert spec.requirements == (KAnonymity(quasi_identifier=("city",), k=2),)
    assert load_spec(spec) is spec
    message = sentence(SpecError, lambda: spec.source_path)
    assert message == "spec: [table] names no source, and no table was given."


# ---- Mistakes, answered in this project's own words ----

FIRST = "[[require]] number 1"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"age", "job"',
            '"age", "outcome"',
            f"{FIRST}: the quasi-identifier names the class 'outcome', which is released as it is.",
        ),
        (
            '"age", "job"',
            '"age", "name"',
            f"{FIRST}: the quasi-identifier names the identifier 'name', which is never released.",
        ),
        (
            '"age", "job"',
            '"age", "jop"',
            f"{FIRST}: the quasi-identifier names 'jop', which is not described; did you mean 'job'?",
        ),
        (
            '"age", "job"',
            '"age", "zip"',
            f"{FIRST}: the quasi-identifier names 'zip', which is not described; "
            "there are 'name', 'age', 'job', 'city'.",
        ),
        ('"age", "job"', '"age", "job", "age"', f"{FIRST}: the quasi-identifier names 'age' twice."),
        ("k = 5", "", f"{FIRST} lacks the key 'k'."),
        ('quasi-identifier = ["age", "job"]', "", f"{FIRST} lacks the key 'quasi-identifier'."),
        ('kind = "k-anonymity"', "", f"{FIRST} lacks the key 'kind'."),
        (WARD[WARD.index("[[require]]") :], "", "there is no [[require]] section, so nothing would be protected."),
    ],
    ids=["class", "identifier", "near", "far", "twice", "no k", "no quasi-identifier", "no kind", "no requirement"],
)
def test_a_requirement_that_does_not_fit(load: Load, old: str, new: str, problem: str) -> None:
    assert sentence(SpecError, lambda: load(changed(old, new))) == f"ward.toml: {problem}"


def test_the_second_requirement_is_distinguished_from_the_first(load: Load) -> None:
    second = '[[require]]\nkind = "k-anonymity"\nquasi-identifier = ["name"]\nk = 2\n'
    assert sentence(SpecError, lambda: load(WARD + second)).startswith("ward.toml: [[require]] number 2: ")


AGE = "[attributes.age]"
CITY = "[attributes.city]"
JOB = "[attributes.job]"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[0, 120]", "[120, 0]", f"{AGE} range is [120, 0], but it must go from a number to a larger one."),
        ("[0, 120]", "[5, 5]", f"{AGE} range is [5, 5], but it must go from a number to a larger one."),
        ("[0, 120]", "[0, inf]", f"{AGE} range is [0, inf], but it must go from a number to a larger one."),
        ("[0, 120]", "[nan, 120]", f"{AGE} range is [nan, 120], but it must go from a number to a larger one."),
        ("[0, 120]", "[0.5, 120]", f"{AGE} is whole, but its range [0.5, 120) is not."),
        ("whole = true", "step = 0", f"{AGE} step is 0, but it must be larger than 0."),
        ("whole = true", "step = -0.5", f"{AGE} step is -0.5, but it must be larger than 0."),
        ("whole = true", "whole = true\nstep = 1", f"{AGE} is whole, so its step is 1 and cannot be given."),
        ("whole = true", 'values = ["1"]', f"{AGE} is a number, for which 'values' has no meaning."),
        ("whole = true", 'taxonomy = "job.tree"', f"{AGE} is a number, for which 'taxonomy' has no meaning."),
        ('kind = "number"\n', "", f"{AGE} lacks the key 'kind' (number, date or category)."),
        ('taxonomy = "job.tree"', "range = [0, 5]", f"{JOB} is a category, for which 'range' has no meaning."),
        ('taxonomy = "job.tree"', "whole = true", f"{JOB} is a category, for which 'whole' has no meaning."),
        ('taxonomy = "job.tree"', "step = 1", f"{JOB} is a category, for which 'step' has no meaning."),
        (
            '"job.tree"',
            '"job.tree"\nvalues = ["Clerk"]',
            f"{JOB} has both values and a taxonomy; the leaves of a taxonomy are its values.",
        ),
        ('"Basel"]', '"Basel", "Bern"]', f"{CITY} values hold 'Bern' twice."),
        ('"Basel"]', '"⊥"]', f"{CITY} values hold '⊥', which is reserved for suppressed values."),
        (
            'role = "identifier"',
            'role = "identifier"\nkind = "category"',
            "[attributes.name] is an identifier and is never released, so 'kind' has no meaning.",
        ),
    ],
)
def test_an_attribute_that_contradicts_itself(load: Load, old: str, new: str, problem: str) -> None:
    assert sentence(SpecError, lambda: load(changed(old, new))) == f"ward.toml: {problem}"


@pytest.mark.parametrize("section", ['role = "identifier"', 'kind = "number"', 'taxonomy = "job.tree"'])
def test_the_class_is_not_described_like_an_attribute(load: Load, section: str) -> None:
    message = sentence(SpecError, lambda: load(WARD + f"[attributes.outcome]\n{section}\n"))
    assert message == (
        "ward.toml: [attributes.outcome] is the class; only its values, their labels, how it is derived (derive) and "
        "missing can be declared."
    )


def test_a_label_of_the_class_that_appears_twice(load: Load) -> None:
    message = sentence(SpecError, lambda: load(WARD + '[attributes.outcome]\nvalues = ["cured", "cured"]\n'))
    assert message == "ward.toml: [attributes.outcome] values hold 'cured' twice."


@pytest.mark.parametrize("weight", ["age", "name", "outcome"])
def test_a_weight_that_is_another_column(load: Load, weight: str) -> None:
    message = sentence(SpecError, lambda: load(changed('class = "outcome"', f'class = "outcome"\nweight = "{weight}"')))
    assert message == f"ward.toml: [table] weight names {weight!r}, which is described as another column."


# ---- Taxonomies that the spec names ----


def test_a_bad_taxonomy_is_reported_with_the_attribute_that_names_it(load: Load) -> None:
    message = sentence(TaxonomyError, lambda: load(changed("job.tree", "twice.tree")))
    assert message == "ward.toml: [attributes.job]: twice.tree: the leaf 'Clerk' appears twice."


def test_a_taxonomy_that_is_not_there(load: Load, tmp_path: Path) -> None:
    message = sentence(TaxonomyError, lambda: load(changed("job.tree", "jobs.tree")))
    reason = "the taxonomy cannot be read: No such file or directory."
    assert message == f"ward.toml: [attributes.job]: {tmp_path / 'jobs.tree'}: {reason}"


# ---- Words for readers ----


def test_title_owner_and_date(load: Load) -> None:
    told = 'class = "outcome"\ntitle = "Wards of Århus"\nowner = "City Hospital"\ndate = '
    for date in ("2024-05-31", '"2024-05-31"'):
        table = load(changed('class = "outcome"', told + date)).table
        assert (table.title, table.owner, table.date) == ("Wards of Århus", "City Hospital", "2024-05-31")
    assert (load(WARD).table.title, load(WARD).table.owner, load(WARD).table.date) == (None, None, None)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ('title = ""', "[table] title is '', but it must be one line of 1 to 200 visible characters."),
        ("title = 5", "[table] title is 5, but it must be text."),
        (
            'owner = "City\\nHospital"',
            "[table] owner is 'City\\nHospital', but it must be one line of 1 to 200 visible characters.",
        ),
        (
            'owner = "\\u202Elatipsoh"',
            "[table] owner is '\\u202elatipsoh', but it must be one line of 1 to 200 visible characters.",
        ),
        ('date = "May"', "[table] date is 'May', but it must be a day such as 2024-01-31."),
        ("date = 2024-05-31T10:00:00", "[table] date is 2024-05-31T10:00:00, but it must be a day such as 2024-01-31."),
        ("date = 2024", "[table] date is 2024, but it must be a day such as 2024-01-31."),
    ],
)
def test_words_that_readers_could_not_read(load: Load, key: str, problem: str) -> None:
    message = sentence(SpecError, lambda: load(changed('class = "outcome"', f'class = "outcome"\n{key}')))
    assert message == f"ward.toml: {problem}"


# ---- Unknown keys ----


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("class =", "clas =", "[table] has the unknown key 'clas'; did you mean 'class'?"),
        ("range =", "rnge =", f"{AGE} has the unknown key 'rnge'; did you mean 'range'?"),
        ("taxonomy =", "taxonmy =", f"{JOB} has the unknown key 'taxonmy'; did you mean 'taxonomy'?"),
        (
            "quasi-identifier =",
            "quasi-identifer =",
            f"{FIRST} has the unknown key 'quasi-identifer'; did you mean 'quasi-identifier'?",
        ),
        ("k = 5", "k = 5\nkk = 6", f"{FIRST} has the unknown key 'kk'; did you mean 'k'?"),
        ("k = 5", "k = 5\nepsilon = 1.0", f"{FIRST} has the unknown key 'epsilon'."),
        (
            "k = 5",
            'k = 5\n[publish]\ncriterium = "score"',
            "[publish] has the unknown key 'criterium'; did you mean 'criterion'?",
        ),
        (
            'class = "outcome"',
            'class = "outcome"\nmissing = { value = ["?"] }',
            "[table] missing has the unknown key 'value'; did you mean 'values'?",
        ),
        ("[table]", "[tabel]", "the file has the unknown key 'tabel'; did you mean 'table'?"),
    ],
)
def test_an_unknown_key_is_reported_with_the_nearest_known_one(load: Load, old: str, new: str, problem: str) -> None:
    assert sentence(SpecError, lambda: load(changed(old, new))) == f"ward.toml: {problem}"


def test_a_section_that_is_missing(load: Load) -> None:
    assert sentence(SpecError, lambda: load("")) == "ward.toml: the file lacks the key 'table'."
    message = sentence(SpecError, lambda: load(changed('class = "outcome"\n', "")))
    assert message == "ward.toml: [table] lacks the key 'class'."


# ---- Values of the wrong kind: the rule is worded by pydantic, so only what must be in it is asserted ----


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("k = 5", "k = 0", (FIRST, "k is 0", "1")),
        ("k = 5", "k = -3", (FIRST, "k is -3", "1")),
        ("k = 5", 'k = "5"', (FIRST, "k is '5'")),
        ("k = 5", "k = 2.5", (FIRST, "k is 2.5")),
        ("k = 5", "k = 5.0", (FIRST, "k is 5.0")),
        ('["age", "job"]', "[]", (FIRST, "quasi-identifier", "[]")),
        ('["age", "job"]', '"age"', (FIRST, "quasi-identifier", "'age'")),
        ('["age", "job"]', '["age", 7]', (FIRST, "quasi-identifier", "7")),
        ('"k-anonymity"', '"k-anonimity"', (FIRST, "kind", "'k-anonimity'", "'k-anonymity'")),
        ("[0, 120]", "[0]", (AGE, "range", "[0]", "two")),
        ("[0, 120]", "[0, 60, 120]", (AGE, "range", "[0, 60, 120]", "two")),
        ("[0, 120]", '"0-120"', (AGE, "range", "'0-120'")),
        ("whole = true", 'whole = "yes"', (AGE, "whole", "'yes'")),
        ('kind = "number"', 'kind = "numeric"', (AGE, "kind", "'numeric'", "'number'", "'category'")),
        ('role = "identifier"', 'role = "id"', ("[attributes.name]", "role", "'id'", "'identifier'")),
        ('["Bern", "Basel"]', "[]", (CITY, "values", "[]")),
        ('["Bern", "Basel"]', '"Bern"', (CITY, "values", "'Bern'")),
        ('["Bern", "Basel"]', "[3000, 4000]", (CITY, "values", "3000")),
        ('"job.tree"', "7", (JOB, "taxonomy", "7")),
        ('class = "outcome"', "class = 7", ("[table]", "class", "7")),
        ('"ward.csv"', "7", ("[table]", "source", "7")),
        ('"outcome"', '"outcome"\nothers = "keep"', ("[table]", "others", "'keep'", "'refuse'", "'drop'", "'release'")),
        ('"outcome"', '"outcome"\nmissing = { rows = "skip" }', ("[table]", "missing", "rows", "'skip'", "'drop'")),
        ('"outcome"', '"outcome"\nmissing = { values = "?" }', ("[table]", "missing", "values", "'?'")),
        ("k = 5", 'k = 5\n[publish]\nmethod = "magic"', ("[publish]", "method", "'magic'", "'refinement'")),
        ("k = 5", 'k = 5\n[publish]\ncriterion = "Score"', ("[publish]", "criterion", "'Score'", "'score'")),
        ("[[require]]", "[require]", ("require",)),
    ],
)
def test_a_value_of_the_wrong_kind(load: Load, old: str, new: str, parts: tuple[str, ...]) -> None:
    message = sentence(SpecError, lambda: load(changed(old, new)))
    assert message.startswith("ward.toml: ")
    for part in parts:
        assert part in message


def test_of_several_mistakes_one_is_reported(load: Load) -> None:
    text = changed("k = 5", "k = 0").replace("kind =", "knd =").replace('"outcome"', "7")
    assert sentence(SpecError, lambda: load(text)).count("ward.toml") == 1


# ---- Files that cannot be read ----


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (changed("k = 5", "k = = 5"), 24),
        (changed("k = 5", "k = 5\nk = 6"), 25),
        (changed("[0, 120]", "[0, 120"), 11),
    ],
    ids=["not a value", "key twice", "bracket"],
)
def test_a_file_that_is_not_toml(load: Load, tmp_path: Path, text: str, line: int) -> None:
    message = sentence(SpecError, lambda: load(text))
    assert message.startswith(f"{tmp_path / 'ward.toml'}: the spec is not TOML: ")
    assert f"at line {line}" in message


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_that_is_not_utf_8(load: Load, tmp_path: Path, encoding: str) -> None:
    message = sentence(SpecError, lambda: load(WARD.replace("Bern", "Zürich").encode(encoding)))
    assert message.startswith(f"{tmp_path / 'ward.toml'}: the spec is not UTF-8 text (byte ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    message = sentence(SpecError, lambda: load_spec(tmp_path / "ward.toml"))
    assert message == f"{tmp_path / 'ward.toml'}: the spec cannot be read: No such file or directory."
    assert sentence(SpecError, lambda: load_spec(tmp_path)) == f"{tmp_path}: the spec cannot be read: it is a folder."


# ---- Found while writing these tests ----


@pytest.mark.parametrize(
    ("old", "new"), [("quasi-identifier =", "quasi_identifier ="), ("class =", "class_ =")], ids=["dash", "class_"]
)
def test_a_key_is_spelled_in_one_way_only(load: Load, old: str, new: str) -> None:
    message = sentence(SpecError, lambda: load(changed(old, new)))
    assert f"the unknown key {new.split()[0]!r}; did you mean {old.split()[0]!r}?" in message


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("[0, 120]", '["0", "120"]', "'0'"),
        ("[0, 120]", "[true, 120]", "rue"),
        ("[0, 120]", "[2020-01-01, 2021-01-01]", "2020"),
        ("whole = true", 'step = "0.01"', "'0.01'"),
    ],
    ids=["text", "true", "date", "step as text"],
)
def test_where_any_number_is_meant_no_integer_is_asked_for(load: Load, old: str, new: str, value: str) -> None:
    message = sentence(SpecError, lambda: load(changed(old, new)))
    assert message.startswith(f"ward.toml: {AGE} ")
    assert value in message
    assert " int" not in message
    assert "number" in message


@pytest.mark.parametrize("name", ["missing", "table", "publish", "k-anonymity"])
def test_an_attribute_may_be_called_like_a_section(load: Load, name: str) -> None:
    message = sentence(SpecError, lambda: load(WARD + f'[attributes.{name}]\nknd = "category"\n'))
    assert message == f"ward.toml: [attributes.{name}] has the unknown key 'knd'; did you mean 'kind'?"


@pytest.mark.parametrize(
    "text",
    [
        changed('class = "outcome"', 'class = "outcome"\nmissing = "?"'),
        changed(f'{CITY}\nkind = "category"\nvalues = ["Bern", "Basel"]', '[attributes]\ncity = "category"'),
        changed("[0, 120]", "[0]"),
    ],
    ids=["missing", "attribute", "range"],
)
def test_no_message_speaks_of_the_program_s_own_parts(load: Load, text: str) -> None:
    message = sentence(SpecError, lambda: load(text))
    for word in ("Section", "dictionary", "validation", "instance"):
        assert word not in message
