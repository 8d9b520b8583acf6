"""A browser that notes whatever goes wrong on the pages that it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx

from tests.support.no_tls import NO_TLS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Response

    from tests.door.running_door import Door

_PHONE: Final = {"width": 360, "height": 740}
_DESK: Final = {"width": 1280, "height": 900}
_SEVERE: Final = ("serious", "critical")
_PATIENCE_MS: Final = 100_000
_MOST_STOPS: Final = 3000
_AT_ONCE: Final = 20
_WATCH: Final = """
  const usable = "a[href], button, input, select, textarea, summary, [tabindex='0'], [onclick], "
    + "[role=button]";
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  window.come = new Set();
  window.unseen = [];
  window.isRound = false;
  document.addEventListener("focusin", event => {
    const at = event.target, box = at.getBoundingClientRect(), style = getComputedStyle(at);
    window.isRound ||= at === come.values().next().value;
    come.add(at);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const within = box.width > 0 && box.bottom > 0 && box.top < innerHeight
      && box.right > 0 && box.left < innerWidth;
    if (!outlined || !within) unseen.push("not seen: " + at.outerHTML.slice(0, 100));
  });
  window.missed = () => [
    ...unseen,
    ...[...document.querySelectorAll(usable)]
      .filter(each => each.type !== "hidden" && each.checkVisibility({visibilityProperty: true})
              && !come.has(each))
      .map(each => "not come to: " + each.outerHTML.slice(0, 100)),
  ];
"""


class Browsing:
    """A window of a browser.

    Attributes:
        page: Playwright's page.
        wrong: what went wrong since it was last asked for.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page: Final = page
        self.wrong: list[str] = []
        self._url = url.rstrip("/")
        page.set_default_timeout(_PATIENCE_MS)
        page.on("console", lambda message: self._note(message.type == "error", message.text))
        page.on("pageerror", lambda error: self._note(True, f"a script failed: {error}"))
        page.on("dialog", lambda dialog: (self._note(True, "a dialog opened"), dialog.dismiss()))
        page.on("download", lambda each: self._note(True, f"a download began: {each.url}"))
        page.on("popup", lambda each: self._note(True, f"a window opened: {each.url}"))
        page.on(
            "request",
            lambda request: self._note(not self._is_own(request.url), f"asked {request.url}"),
        )
        # What was still on its way when the next page was opened is given up: that is no fault.
        page.on(
            "requestfailed",
            lambda request: self._note(
                request.failure != "net::ERR_ABORTED", f"{request.url} failed: {request.failure}"
            ),
        )
        page.on(
            "response",
            lambda answer: self._note(
                answer.status >= 400 and answer.url != self.page.url,
                f"{answer.url} answered {answer.status}",
            ),
        )

    def open(self, path: str, *, status: int = 200) -> Response:
        """Open a page of the front door."""
        answer = self.page.goto(self._url + path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}: {self.text('main')}"
        return answer

    def text(self, selector: str) -> str:
        """Return the text that a person sees there."""
        return self.page.inner_text(selector)

    def click(self, name: str, *, within: str = "main", number: int = 0) -> None:
        """Click a button by its words, and wait for the page that follows."""
        with self.page.expect_navigation():
            self.page.locator(within).get_by_role("button", name=name).nth(number).click()

    def said(self) -> str:
        """Return what the page says was done."""
        return self.page.inner_text("[role=status]")

    def findings(self, *rules: str) -> list[str]:
        """Return what axe-core finds serious or critical on the page, by all rules or by these."""
        if not self.page.evaluate("'axe' in window"):
            axe = resources.files("axe_playwright_python") / "axe.min.js"
            self.page.evaluate(axe.read_text(encoding="utf-8"))
        options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
        found: Any = self.page.evaluate("options => axe.run(document, options)", options)
        return [
            f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:200]}"
            for rule in found["violations"]
            if rule["impact"] in _SEVERE
        ]

    def overflow(self) -> list[str]:
        """Return what is wider than the window, and the tables that scroll by themselves."""
        wider: Any = self.page.evaluate(
            """() => {
              const width = document.documentElement.clientWidth;
              const scrolling = [...document.querySelectorAll("main *")]
                .filter(each => each.scrollWidth > each.clientWidth + 1
                                && ["auto", "scroll"].includes(getComputedStyle(each).overflowX))
                .map(each => `${each.ariaLabel}: ${each.scrollWidth} > ${each.clientWidth}`);
              if (scrolling.length) return scrolling;
              if (document.documentElement.scrollWidth <= width) return [];
              return [...document.querySelectorAll("body *")]
                .filter(each => each.getBoundingClientRect().right > width + 1
                                && !each.closest(".scroll"))
                .map(each => `${each.tagName}.${each.className}: ${each.textContent.slice(0, 60)}`)
                .slice(0, 3);
            }"""
        )
        return list(wider)

    def tabbed(self) -> list[str]:
        """Go through the page by the Tab key, with all unfolded; return what is wrong.

        That is whatever a pointer can use and the key does not come to, or that shows no outline
        within the window when it does.
        """
        self.page.evaluate(_WATCH)
        for pressed in range(_MOST_STOPS):
            self.page.keyboard.press("Tab")
            if pressed % _AT_ONCE == 0 and self.page.evaluate("isRound"):
                break
        missed: Any = self.page.evaluate("missed()")
        return list(missed)

    def come_to(self, wanted: Locator) -> None:
        """Press the Tab key until something has the focus."""
        for _ in range(_MOST_STOPS):
            if wanted.evaluate("each => each === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        message = f"the Tab key does not come to {wanted}"
        raise AssertionError(message)

    @contextmanager
    def on_a_phone(self) -> Iterator[None]:
        """Show pages as wide as a phone is."""
        self.page.set_viewport_size(_PHONE)  # type: ignore[arg-type] # a dict of two integers
        yield
        self.page.set_viewport_size(_DESK)  # type: ignore[arg-type] # as above

    @contextmanager
    def in_the_dark(self) -> Iterator[None]:
        """Show pages as on a device that prefers dark ones."""
        self.page.emulate_media(color_scheme="dark")
        yield
        self.page.emulate_media(color_scheme="light")

    def take_wrong(self) -> list[str]:
        """Return the errors so far, and forget them."""
        wrong, self.wrong = self.wrong, []
        return wrong

    def _note(self, is_wrong: bool, what: str) -> None:
        if is_wrong:
            self.wrong.append(what)

    def _is_own(self, url: str) -> bool:
        return urlsplit(url).netloc == urlsplit(self._url).netloc


def sign_in(context: BrowserContext, door: Door) -> None:
    """Give a browser a session, as `trackrecord open` does."""
    link = httpx.post(f"{door.url}/session", timeout=60, verify=NO_TLS).json()["path"]
    assert context.request.get(f"{door.address}{link}").ok


def windows(browser: Browser, door: Door) -> Iterator[Callable[[], Browsing]]:
    """Yield a function that opens windows, each as `trackrecord open` does for a new browser."""
    opened = []

    def window() -> Browsing:
        # Without motion: a colour that is still fading in has a contrast of its own.
        context = browser.new_context(viewport=_DESK, reduced_motion="reduce")  # type: ignore[arg-type] # as above
        opened.append(context)
        sign_in(context, door)
        return Browsing(context.new_page(), door.address)

    yield window
    for context in opened:
        context.close()
