"""The page in a real browser: from a csv file to a verified release without typing TOML, and labels that attack it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from browser import LAPTOP, Browser
from studio.conftest import CENSUS, DATA, census_csv, serving
from studio.page import Page
from unveil.studio.server import Studio

TABLET = (820, 1180)
OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
UNNAMED = """
return [...document.querySelectorAll('button, input, select, textarea')].filter(e => e.getClientRects().length)
  .filter(e => !(e.textContent.trim() && e.tagName === 'BUTTON'))
  .filter(e => !e.getAttribute('aria-label') && !e.closest('label'))
  .map(e => e.outerHTML.slice(0, 80))
"""
"""What somebody who cannot see the page would not be told the name of."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adult as a csv file, as an owner would have it."""
    place = tmp_path_factory.mktemp("adult")
    rows = pyarrow.parquet.read_table(DATA / "adult.parquet").slice(0, 6000)
    pyarrow.csv.write_csv(rows, place / "adult.csv")
    return place


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Studio]:
    with serving(folder, "adult.csv") as served:
        yield served


def test_from_csv_to_a_verified_release(browser: Browser, studio: Studio, folder: Path) -> None:
    """All five parts, in the order in which an owner goes through them."""
    page = Page(browser, studio)
    # Table: what init guessed is marked, and a decision takes the mark away.
    assert browser.run("return document.querySelectorAll('.columns tbody tr').length") == 16
    assert "guess" in page.text('tr[data-column="age"]')
    assert "survey" in page.text(".warnings")
    page.choose("role of education-num", "identifier")
    page.choose("role of split", "identifier")
    page.until("!document.querySelector('tr[data-column=\"split\"]').innerText.includes('guess')")
    page.click("others can know native-country, requirement 1")
    page.choose("kind of hours-per-week", "category")
    page.press("Undo")
    assert 'kind = "number"' in page.toml().split("[attributes.hours-per-week]")[1].split("[attributes")[0]
    page.press("Spec")
    # Taxonomies: drafted, then corrected by hand.
    page.column("workclass")
    page.group("Government", "Federal-gov", "Local-gov", "State-gov")
    page.column("education")
    page.choose("way to draft", "frequency")
    page.press("Draft")
    page.until("document.querySelectorAll('.node.group').length > 2")
    # Requirements: the slider is an edit of the spec, and the release follows.
    page.part("requirements")
    page.slide("k: records that share each combination, at least", 450)
    k = int(browser.run("return document.querySelector('.slider input[type=number]').value"))
    assert k > 20
    assert f"at least {k} records" in page.text("#promise")
    assert int(page.text("#figures dd").split()[0].replace(",", "")) >= k
    # The release, live.
    page.part("release")
    assert browser.run("return document.querySelectorAll('#cuts .cut').length") > 5
    page.until("document.querySelector('#worth').innerText.includes('everything masked')")
    assert browser.run("return document.querySelectorAll('#examples tbody tr').length") == 6
    page.press("Compare")
    page.until("document.querySelectorAll('.three section').length === 3")
    page.press("Explain and price")
    page.until("document.querySelectorAll('.reasons li').length > 4")
    # Publish.
    page.part("publish")
    browser.run("document.getElementById('read').click()")
    page.until("document.getElementById('go') && !document.getElementById('go').disabled")
    assert not (folder / "published").exists()
    page.press("Publish and verify")
    page.until("document.getElementById('place') || document.getElementById('problem').textContent")
    assert page.problem == ""
    assert page.text("#place") == str(folder / "published")
    assert unveil.verify(folder / "published" / "release", folder / "adult.toml") == []
    assert (folder / "adult.toml").read_text(encoding="utf-8") == page.toml()
    assert (folder / "workclass.tree").read_text(encoding="utf-8").count("Government") == 1
    # Nothing failed, and nothing left the machine.
    assert browser.messages() == []
    own = f"http://127.0.0.1:{studio.port}/"
    assert {url for url in browser.requests() if not url.startswith((own, "about:", "data:"))} == set()


DRAG = """
const [from, to] = arguments;
const find = (label) => document.querySelector(`.node[data-label="${label}"]`);
const dataTransfer = new DataTransfer();
find(from).dispatchEvent(new DragEvent('dragstart', { bubbles: true, dataTransfer }));
find(to).dispatchEvent(new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer }));
find(to).dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
"""


def test_taxonomies_by_hand(browser: Browser, studio: Studio) -> None:
    """Group, drag, rename, merge, split, import and undo; every tree is a taxonomy of all values."""
    page = Page(browser, studio)
    page.column("marital-status")
    page.group("Married", "Married-civ-spouse", "Married-AF-spouse")
    page.group("Alone", "Divorced", "Widowed")
    browser.driver.execute_script(DRAG, "Never-married", "Alone")
    inside = "document.querySelector('[data-label=\"Alone\"]').nextElementSibling.innerText"
    page.until(f"{inside}.includes('Never-married')")
    page.name("Not married")
    page.item("Alone")  # draws the tree again, and keeps what is being typed
    page.press("Rename")
    page.until("document.querySelector('.node.group[data-label=\"Not married\"]')")
    assert page.groups() == {"Any marital-status", "Married", "Not married"}
    page.item("Married")
    page.item("Not married")
    page.press("Merge")
    page.until("document.querySelectorAll('.node.group').length === 2")
    assert page.groups() == {"Any marital-status", "Married"}
    page.press("Undo")
    page.until("document.querySelectorAll('.node.group').length === 3")
    page.item("Married")
    page.press("Split")
    page.until("document.querySelectorAll('.node.group').length === 2")
    assert page.groups() == {"Any marital-status", "Not married"}
    page.column("sex")
    arx = "Female;Somebody;*\nMale;Somebody;*\n"
    browser.run(f"""
        const input = document.querySelector('.file input');
        const data = new DataTransfer();
        data.items.add(new File([{arx!r}], 'sex.csv'));
        input.files = data.files;
        input.dispatchEvent(new Event('change'));
    """)
    page.until("document.querySelector('[data-label=\"Somebody\"]')")
    page.column("age")
    page.choose("finest of age", "10")
    page.until("!document.body.classList.contains('waiting')")
    page.part("release")
    bounds = browser.run(
        "return [...document.querySelectorAll('[data-attribute=age] .interval title')].map(e => e.textContent)"
    )
    assert bounds
    inner = {int(part) for text in bounds for part in text[1 : text.index(")")].split(", ")} - {10, 17, 91, 100}
    assert all(bound % 10 == 0 for bound in inner)
    assert browser.messages() == []


def test_steering_names_and_privacy(browser: Browser, studio: Studio) -> None:
    """Names for codes, rows left out, weights, and a private release that shows nothing unless it is asked."""
    page = Page(browser, studio)
    page.click("more about sex")
    page.until("document.querySelector('.labels input')")
    browser.run("document.querySelector('.labels').open = true")
    browser.run("document.querySelectorAll('.labels input').forEach((e, i) => { e.value = 'kind ' + i })")
    page.press("Use these names")
    assert "labels = {" in page.toml()
    page.press("Spec")
    page.part("requirements")
    page.slide("share of the records that may be left out", 20)
    assert 'leave-out = "2%"' in page.toml()
    page.press("Spec")
    page.slide("weight of age", 900)
    page.choose("keep of sex", "kind 0, kind 1")
    assert 'keep = ["kind 0", "kind 1"]' in page.toml()
    assert page.problem == ""
    page.choose("method", "additive")
    page.until("document.getElementById('problem').textContent.includes('declare')")
    page.press("Declare them all as public")
    page.until("document.getElementById('problem').textContent === ''")
    page.until("document.getElementById('release').innerText.includes('Nothing is drawn from the private table')")
    page.press("Show previews, for my eyes only")
    page.until("document.getElementById('seeded') && !document.getElementById('seeded').hidden")
    page.part("publish")
    assert browser.run("return document.getElementById('go').disabled")
    assert "ε = 1" in page.text("#publish")


@pytest.mark.skipif(not CENSUS.exists(), reason=f"{CENSUS.name} is not here")
def test_census_income_from_csv_to_a_verified_release(browser: Browser, tmp_path: Path) -> None:
    census_csv(tmp_path / "census.csv")
    kept = ["age", "education", "marital status", "race", "sex", "class of worker", "weeks worked", "income"]
    with serving(tmp_path, "census.csv") as served:
        page = Page(browser, served)
        assert browser.run("return document.querySelectorAll('.columns tbody tr').length") == 42
        page.choose("rows with a missing value", "keep")
        names = browser.run("return [...document.querySelectorAll('tr[data-column]')].map(e => e.dataset.column)")
        for name in (name for name in names if name not in kept):
            found = f"[...document.querySelectorAll('select')].find(e => e.ariaLabel === 'role of {name}')"
            browser.run(f"const e = {found}; e.value = 'identifier'; e.dispatchEvent(new Event('change'))")
        page.until("!document.body.classList.contains('waiting')")
        page.part("requirements")
        page.slide("k: records that share each combination, at least", 600)
        assert page.problem == ""
        page.part("publish")
        browser.run("document.getElementById('read').click()")
        page.until("document.getElementById('go') && !document.getElementById('go').disabled")
        page.press("Publish and verify")
        page.until("document.getElementById('place') || document.getElementById('problem').textContent", 500)
        assert page.problem == ""
    assert unveil.verify(tmp_path / "published" / "release") == []


@pytest.mark.parametrize("size", [LAPTOP, TABLET])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_fits_and_has_names(browser: Browser, studio: Studio, size: tuple[int, int], scheme: str) -> None:
    browser.scheme(scheme)
    page = Page(browser, studio, size)
    for part in ("table", "taxonomies", "requirements", "release", "publish"):
        page.part(part)
        assert browser.run(OVERFLOW) <= 0, part
        assert browser.run(UNNAMED) == [], part
    back = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(int(part) for part in back[4:-1].split(",")) < 200) is (scheme == "dark")
    browser.scheme("")


def test_the_keyboard_is_enough(browser: Browser, studio: Studio) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def keys(*words: str) -> None:
        ActionChains(browser.driver).send_keys(*words).perform()

    page = Page(browser, studio)
    browser.run("document.getElementById('tab-table').focus()")
    keys(Keys.ARROW_RIGHT)
    assert browser.run("return document.activeElement.id") == "tab-taxonomies"
    page.until("document.querySelector('[role=tree]')")
    browser.run("document.querySelector('[role=treeitem]').focus()")
    keys(Keys.ARROW_DOWN, " ")
    assert browser.run("return document.querySelectorAll('[aria-selected=true][role=treeitem]').length") == 1
    browser.run("document.getElementById('tab-taxonomies').focus()")
    keys(Keys.ARROW_RIGHT)
    page.until("document.querySelector('#requirements input[type=range]')")
    before = page.text("#promise")
    browser.run("document.querySelector('#requirements input[type=range]').focus()")
    for _ in range(3):
        keys(Keys.PAGE_UP)
    page.until(f"document.querySelector('#promise').innerText !== {before!r}")
    assert browser.run("return document.activeElement.type") == "range"
    ActionChains(browser.driver).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    page.until("document.getElementById('redo').disabled === false")


def test_a_closed_tab_frees_its_table_and_a_dead_server_is_reported(browser: Browser, folder: Path) -> None:
    with serving(folder, "adult.csv") as served:
        Page(browser, served)
        assert served.tabs == 1
        browser.open("about:blank")
        end = time.monotonic() + 10
        while served.tabs and time.monotonic() < end:
            time.sleep(0.05)
        assert served.tabs == 0
        page = Page(browser, served)
    page.until("document.getElementById('problem').textContent.includes('server')")


HOSTILE = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>\"'>"


def test_labels_full_of_markup_never_run(browser: Browser, tmp_path: Path) -> None:
    name = HOSTILE.replace('"', "").replace("'", "")
    rows = [f"{name},age,{name} 2,ill"]
    rows += [
        f"{HOSTILE!r} {i % 3},{20 + i % 40},javascript:alert({i % 4}),{'yes' if i % 7 > 3 else 'no'}"
        for i in range(400)
    ]
    (tmp_path / "people.csv").write_text("\n".join(row.replace('"', "") for row in rows) + "\n", encoding="utf-8")
    with serving(tmp_path, "people.csv") as served:
        page = Page(browser, served)
        for part in ("table", "taxonomies", "requirements", "release", "publish"):
            page.part(part)
            if part == "table":
                browser.run("document.querySelectorAll('button[aria-expanded=false].quiet').forEach(e => e.click())")
            if part == "taxonomies":
                page.until("document.querySelectorAll('.node').length > 2")
            assert browser.run("return window.hacked") is None
            assert browser.run("return document.querySelectorAll('main img, main script, main a[href]').length") == 0
        assert "onerror" in page.text("#promise")
        assert browser.messages() == []
