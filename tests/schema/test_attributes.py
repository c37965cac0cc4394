import pytest

from unveil.schema import Attribute, Taxonomy, interval_label, number_text, parse_number, value_text

TREE = Taxonomy(("Any", [("a", []), ("b", [])]))


@pytest.mark.parametrize(
    ("attribute", "masking", "declared"),
    [
        (Attribute("age", kind="number", range=(17, 91)), "discretization", True),
        (Attribute("age", kind="number"), "discretization", False),
        (Attribute("job", taxonomy=TREE), "generalization", True),
        (Attribute("job", values=("a", "b")), "suppression", True),
        (Attribute("job"), "suppression", False),
    ],
)
def test_how_an_attribute_is_masked_and_whether_its_domain_is_public(
    attribute: Attribute, masking: str, declared: bool
) -> None:
    assert (attribute.masking, attribute.declared) == (masking, declared)


@pytest.mark.parametrize(
    ("bounds", "label"),
    [((1, 37), "[1, 37)"), ((1.0, 99.0), "[1, 99)"), ((0.1, 2.5), "[0.1, 2.5)"), ((-5, 0), "[-5, 0)")],
)
def test_an_interval_is_half_open_and_whole_bounds_have_no_point(bounds: tuple[float, float], label: str) -> None:
    assert interval_label(*bounds) == label


@pytest.mark.parametrize("number", [0.1, 1e-300, 1 / 3, 123456.789, 1e22, -0.5])
def test_a_number_reads_back_as_it_was(number: float) -> None:
    assert float(number_text(number)) == number


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5),
        ("5", 5),
        (" 5 ", 5),
        ("00202", 202),
        ("-1e3", -1000),
        ("1_000", None),
        ("1,000", None),
        ("1.000,5", None),
        ("five", None),
        ("", None),
        (None, None),
        (True, None),
    ],
)
def test_the_number_that_a_raw_value_stands_for(value: object, number: float | None) -> None:
    assert parse_number(value) == number


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (5, "5"), (True, "true"), (False, "false")])
def test_the_text_that_a_raw_value_is_released_as(value: object, text: str) -> None:
    assert value_text(value) == text
