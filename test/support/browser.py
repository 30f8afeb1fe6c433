"""Debian's Chromium without a screen, as a person would use a page."""

import time
from contextlib import contextmanager

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SIZE = (1280, 800)


class Browser:
    def __init__(self, driver):
        self.driver = driver

    def open(self, url):
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """Of all that match, as a reader sees them; a part that was replaced in the meantime is read again."""
        while True:
            try:
                return [one.text for one in self.all(selector)]
            except StaleElementReferenceException:
                continue

    def text(self, selector):
        return " ".join(self.texts(selector))

    def click(self, selector):
        self.all(selector)[0].click()

    def press(self, *keys):
        """To whatever has the focus; names of `Keys`, or characters."""
        focused = self.driver.switch_to.active_element
        for key in keys:
            focused.send_keys(getattr(Keys, key, key))
            focused = self.driver.switch_to.active_element

    def focused(self):
        """The text, or the label, of what has the focus."""
        return self.run("const e = document.activeElement; return e.getAttribute('aria-label') || e.innerText || e.id || e.tagName")

    def await_text(self, selector, wanted, seconds=20):
        """Until it is there; a failure shows what is."""
        until = time.monotonic() + seconds
        while wanted not in self.text(selector):
            assert time.monotonic() < until, f"not within {seconds} s: {wanted!r} in {selector}: {self.text(selector)!r}"
            time.sleep(0.05)

    def complaints(self):
        """What the console has said since the last time: errors, and what the Content-Security-Policy refused."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, path):
        self.driver.save_screenshot(str(path))


@contextmanager
def browser(size=SIZE, scheme=None):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={size[0]},{size[1]}"):
        options.add_argument(flag)
    if scheme == "dark":
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
