"""What a reader sees of a report, and does, for tests in a browser."""

import re
from typing import Any

ROWS = "#rows .row"


def settle(page: Any) -> None:
    """Wait until what was changed is drawn."""
    page.evaluate("""async () => {
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        for (let i = 0; i < 2 || document.body.ariaBusy === "true"; i++) await frame();
    }""")


def press(page: Any, *keys: str) -> None:
    """Press keys that the whole page knows."""
    page.evaluate("document.activeElement.blur()")
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def search(page: Any, query: str) -> None:
    page.fill("#search", query)
    settle(page)


def choose(page: Any, token: int) -> None:
    """Choose a token by its id, as a reader would."""
    search(page, str(token))
    page.click(f"{ROWS} >> nth=0")
    settle(page)
    assert chosen(page) == token


def chosen(page: Any) -> int:
    """The token that is chosen."""
    return int(page.get_attribute(f'{ROWS}[aria-selected="true"]', "data-token"))


def number(page: Any, selector: str) -> int:
    return int(page.inner_text(selector).replace(",", ""))


def listed(page: Any, n: int = 12) -> list[int]:
    """The tokens of the first rows."""
    return [int(row.get_attribute("data-token")) for row in page.locator(ROWS).all()[:n]]


def n_listed(page: Any) -> int:
    """How many tokens the table has."""
    return int(page.inner_text("#listinfo").split(" of ")[0].replace(",", ""))


def marked(page: Any, selector: str = "#plot") -> int:
    """How many occurrences are marked in a picture."""
    return int(page.get_attribute(selector, "data-marked"))


def place(page: Any) -> tuple[int, int]:
    """The document and the position of the occurrence that is shown."""
    found = re.search(r": document (\d+), \w+ ([\d,]+)$", page.inner_text("#status"))
    assert found
    return int(found[1]), int(found[2].replace(",", ""))


def in_view(page: Any) -> tuple[int, int]:
    """The first symbol in view, and how many are not."""
    slider = page.locator("#overview")
    return int(slider.get_attribute("aria-valuenow")), int(slider.get_attribute("aria-valuemax"))


def rows_of(page: Any, alternative: str) -> list[list[str]]:
    """The cells of the table that says what a picture shows."""
    page.evaluate(f"document.getElementById('{alternative}').open = true")
    page.wait_for_selector(f"#{alternative} table")
    return page.evaluate(
        f"[...document.querySelectorAll('#{alternative} tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
