"""docs/boundaries.md is what s2sad gives; what is mended there, and what must not change."""

import os

import boundaries
import pytest
import tables

ROW = {what: number for number, (what, *_) in enumerate(boundaries.ENTRIES)}


def test_page():
    pytest.importorskip("scipy")
    path = tables.DOCS / "boundaries.md"
    text = boundaries.page()
    if os.environ.get("S2SAD_UPDATE"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "what, first, second",
    [
        ("abs at 0", "0", "0"),
        ("max, tie", "[1, 1]", "[[0.5, 0.5], [0.5, 0.5]]"),
        ("clip at its bounds", "[2, 4]", "[[2, 0], [0, 2]]"),
        ("sqrt masked at 0", "0", "0"),
        ("x log x masked at 0", "0", "0"),
        ("sqrt of where at -1", "0", "0"),
        ("x ** 0.0 at 0", "0", "0"),
        ("x ** 2.0 at 0", "0", "2"),
        ("xlogy(0, 1)", "[0, 0]", "[[0, 1], [1, 0]]"),
        ("sqrt at 0", "inf", "-inf"),
    ],
)
def test_conventions_to_second_order(what, first, second):
    pytest.importorskip("scipy")
    assert boundaries.derivatives(ROW[what]) == [first, second]
