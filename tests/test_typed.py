"""What type checkers know of derivatives: tests/typed_program.py says it line by line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAM = HERE / "typed_program.py"

pytest.importorskip("mypy")


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return what mypy says of each line of the program."""
    cache = tmp_path_factory.mktemp("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), str(PROGRAM)],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
    )
    found = {}
    for line in done.stdout.splitlines():
        match = re.match(r".*typed_program\.py:(\d+): (\w+): (.*)", line)
        if match:
            found.setdefault(int(match[1]), []).append((match[2], _short(match[3])))
    assert found, done.stdout + done.stderr
    return found


def _short(text):
    """Return a message with the last words of dotted names, and no types inside of arrays."""
    text = re.sub(r"\bndarray\[[^\]]*\]\]?\]?, ?dtype\[[^\]]*\]\]", "ndarray", text)
    text = re.sub(r"(?:\w+\.)+(\w+)", r"\1", text)
    return re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[float64\]\]", "ndarray", text)


LINES = [
    (n, *line.rsplit("  # ", 1))
    for n, line in enumerate(PROGRAM.read_text(encoding="utf-8").splitlines(), 1)
    if "  # " in line
]


@pytest.mark.parametrize(("number", "code", "expected"), LINES, ids=lambda v: str(v)[:50])
def test_each_line(said, number, code, expected):
    (kind, text), *_ = said.get(number, [("nothing", "")])
    if expected.startswith("error: "):
        assert kind == "error" and text.endswith(f"[{expected.removeprefix('error: ')}]")
    else:
        assert (kind, text) == ("note", f'Revealed type is "{expected}"')


def test_nothing_else_is_said(said):
    expected = {number for number, _, _ in LINES}
    assert not {n: s for n, s in said.items() if n not in expected}
