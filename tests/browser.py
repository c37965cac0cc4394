"""A real browser for tests of pages: headless Chromium that talks to nothing but the page."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

LAPTOP = (1280, 800)
PHONE = (390, 844)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)


class Browser:
    """A page, as somebody sees it who opens it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, size: tuple[int, int] = LAPTOP) -> None:
        """Opens a file or an address in a window whose inside has this size, as a device of that width shows it."""
        self.size(size)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(page if isinstance(page, str) else page.resolve().as_uri())

    def size(self, size: tuple[int, int]) -> None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        """Makes pages light or dark where they follow the wish of the reader; an empty name wishes nothing."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def messages(self) -> list[str]:
        """What the console said."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, *, whole: bool = False) -> bytes:
        """The window as a PNG, or the whole page."""
        options: dict[str, Any] = {"format": "png"}
        if whole:
            content = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
            options |= {"captureBeyondViewport": True, "clip": {**content, "scale": 1}}
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"])

    def pdf(self) -> bytes:
        """What the browser prints."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])


def missing() -> str | None:
    """Why there is no browser; None if there is one."""
    for command in ("chromium", "chromedriver"):
        if shutil.which(command) is None:
            return f"{command} is not installed (CONTRIBUTING.md tells how)"
    return None


@contextmanager
def started() -> Iterator[Browser]:
    """Starts a browser with an empty profile, and ends it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            yield Browser(driver)
        finally:
            driver.quit()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a run; where none is installed, they are skipped and say so."""
    if reason := missing():
        pytest.skip(reason)
    with started() as running:
        yield running
