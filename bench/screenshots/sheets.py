"""Contact sheets: many pages on one picture, to look at quickly."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from playwright.sync_api import Browser

# Columns and rows of a sheet, and how wide and high a picture is on it; what is longer is cut off below.
_LAYOUTS = {"phone": (5, 1, 312, 1400), "desk": (2, 2, 780, 740)}
_BETWEEN = 6


def make_sheets(browser: Browser, taken: dict[str, list[Path]], folder: Path) -> Iterator[Path]:
    """Make each combination's sheets; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for combination, files in taken.items():
        columns, rows, width, height = _LAYOUTS[combination.partition("-")[0]]
        page = browser.new_page(viewport={"width": columns * (width + _BETWEEN), "height": rows * (height + 20)})
        left, number = iter(files), 0
        while pictures := list(islice(left, columns * rows)):
            number += 1
            page.goto((folder / "..").resolve().as_uri())
            page.set_content(_sheet(pictures, columns, width, height), wait_until="load")
            sheet = folder / f"{combination}-{number:02}.png"
            page.screenshot(path=sheet, full_page=True)
            yield sheet
        page.close()


def _sheet(pictures: list[Path], columns: int, width: int, height: int) -> str:
    cells = "".join(
        f"<figure><figcaption>{picture.stem}</figcaption><div><img src='{picture.resolve().as_uri()}'></div></figure>"
        for picture in pictures
    )
    return f"""<style>
        body {{ margin: 0; display: grid; grid-template-columns: repeat({columns}, {width}px); gap: {_BETWEEN}px;
                background: #888; font: 12px sans-serif }}
        figure {{ margin: 0 }} div {{ max-height: {height}px; overflow: hidden }}
        img {{ width: {width}px; display: block }}
    </style>{cells}"""
