"""The page as an owner uses it: things are found by the names that a screen reader says."""

import time

from browser import LAPTOP, Browser
from unveil.studio.server import Studio


class Page:
    """What an owner does in the page."""

    def __init__(self, browser: Browser, studio: Studio, size: tuple[int, int] = LAPTOP) -> None:
        self.browser = browser
        browser.open("about:blank")
        browser.open(studio.address, size)
        self.until("document.body.dataset.shown > 0 && document.getElementById('figures').children.length > 2")

    def until(self, script: str, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while not self.browser.run(f"return Boolean({script})"):
            assert time.monotonic() < end, (script, self.problem, self.browser.messages())
            time.sleep(0.02)

    @property
    def problem(self) -> str:
        return self.browser.run("return document.getElementById('problem').textContent")

    def part(self, name: str) -> None:
        self.browser.run(f"document.getElementById('tab-{name}').click()")

    def choose(self, label: str, value: str) -> None:
        """Picks from a list or types into a field, by the name that a screen reader says."""
        self._act(f"e.value = {value!r}; e.dispatchEvent(new Event('change', {{bubbles: true}}))", label)

    def click(self, label: str) -> None:
        self._act("e.click()", label)

    def press(self, text: str) -> None:
        shown = "[...document.querySelectorAll('button')].filter(e => e.getClientRects().length)"
        self._drawn(f"{shown}.find(e => e.textContent === {text!r}).click()")

    def slide(self, label: str, place: int) -> None:
        self._act(f"e.value = {place}; e.dispatchEvent(new Event('input', {{bubbles: true}}))", label)
        self._act("e.dispatchEvent(new Event('change', {bubbles: true}))", label)

    def text(self, selector: str) -> str:
        return self.browser.run(f"return document.querySelector({selector!r})?.innerText ?? ''")

    def toml(self) -> str:
        if self.browser.run("return document.getElementById('spec').hidden"):
            self.press("Spec")
        self.until("document.getElementById('toml')")
        return self.browser.run("return document.getElementById('toml').value")

    def _act(self, act: str, label: str) -> None:
        found = f"[...document.querySelectorAll('[aria-label]')].find(e => e.getAttribute('aria-label') === {label!r})"
        self.until(found)
        self._drawn(f"const e = {found}; {act}")

    def _drawn(self, act: str) -> None:
        """Acts, and waits until the release that follows from it, if any, is drawn."""
        self.browser.run(act)
        self.until("!document.body.classList.contains('waiting')")

    def item(self, label: str) -> None:
        """Adds a label of a taxonomy to what is chosen."""
        click = "new MouseEvent('click', {bubbles: true, ctrlKey: true})"
        self.browser.run(f"document.querySelector('[data-label=\"{label}\"]').dispatchEvent({click})")

    def column(self, name: str) -> None:
        """Opens the taxonomy or the steps of a column."""
        self.part("taxonomies")
        found = f"[...document.querySelectorAll('.names button')].find(e => e.title === {name!r})"
        self.until(found)
        self.browser.run(f"{found}.click()")
        self.until(f"document.querySelector('#editor h2')?.textContent.startsWith({name[:30]!r})")

    def groups(self) -> set[str]:
        """The groups of the taxonomy that is shown."""
        return set(self.browser.run("return [...document.querySelectorAll('.node.group')].map(e => e.dataset.label)"))

    def name(self, name: str) -> None:
        """Types the name of a group."""
        self._act(f"e.value = {name!r}; e.dispatchEvent(new Event('input', {{bubbles: true}}))", "name of the group")

    def group(self, name: str, *labels: str) -> None:
        """Puts labels into a new group."""
        for label in labels:
            self.item(label)
        self.name(name)
        self.press("Group")
        self.until(f"document.querySelector('.node.group[data-label=\"{name}\"]')")
