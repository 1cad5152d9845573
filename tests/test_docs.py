"""README.md and docs/*.md: every python block runs, every output shown is the real one.

Blocks fenced as python run in order, in one namespace per page, and blocks fenced as sh run in a
shell. A block that names a file, as in "python model.py", is that file. A block fenced as text that
follows the comment `<!-- output -->` is the output of the block before it. A block below
`<!-- needs torch -->` runs where that package is installed. To write the real outputs into the
pages: `S2SAD_UPDATE=1 pytest tests/test_docs.py`.
"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest
import strict

from s2sad import registry

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("README.md"), *(ROOT / "docs").glob("*.md")])
NEEDS = {"sparse.md": "networkx"}  # a page is left out where what it needs is not installed
UPDATE = bool(os.environ.get("S2SAD_UPDATE"))

_OPEN = re.compile(r"(?P<indent> *)(?P<fence>```+|~~~+)(?P<info>.*)")


@dataclass
class Block:
    """One fenced block: its language, its lines, and where they stand (0-based, half open)."""

    language: str
    start: int
    stop: int
    text: str
    is_output: bool
    needs: str = ""
    file: str = ""

    @property
    def runs(self):
        return self.language in ("python", "sh") or bool(self.file)


def blocks(page):
    """Return the fenced blocks of a page in order."""
    found, lines, i = [], page.splitlines(), 0
    while i < len(lines):
        opening = _OPEN.fullmatch(lines[i])
        if opening is None:
            i += 1
            continue
        stop = i + 1
        while lines[stop].strip() != opening["fence"]:
            stop += 1
        language, file = [*opening["info"].split(), "", ""][:2]
        text = "".join(f"{line.removeprefix(opening['indent'])}\n" for line in lines[i + 1 : stop])
        before = lines[:i]
        found.append(Block(language, i + 1, stop, text, _announced(before), _needs(before), file))
        i = stop + 1
    return found


def _announced(before):
    written = [line for line in before if line.strip()]
    return bool(written) and written[-1].strip() == "<!-- output -->"


def _needs(before):
    """Return the package that the comment above a block names: `<!-- needs torch -->`."""
    written = [line for line in before if line.strip()]
    found = re.fullmatch(r"<!-- needs (\w+) -->", written[-1].strip()) if written else None
    return found[1] if found else ""


def run(page, folder, namespace):
    """Run the python blocks of a page; yield (output block, what was printed instead).

    A block that needs a package which is not installed is left out, with its output.
    """
    printed, absent = None, False
    for number, block in enumerate(blocks(page)):
        if block.runs:
            absent = bool(block.needs) and importlib.util.find_spec(block.needs) is None
        if absent:
            continue
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            printed = _shell(block.text, folder)
        elif block.language == "python":
            printed = _execute(block.text, folder / str(number) / "example.py", namespace)
        elif block.is_output:
            assert block.language == "text", f"line {block.start}: an output is fenced as text"
            assert printed is not None, f"line {block.start}: no block before it prints"
            yield block, _tidy(printed)


def _execute(text, path, namespace):
    """Run a block as a file of its own, so that its functions have source, and capture stdout."""
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, str(path), "exec"), namespace)
    return printed.getvalue()


def _shell(text, folder):
    """Run a block in a shell in which the command line of this environment is found."""
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout


def _tidy(text):
    """Drop what a page does not show: spaces at the ends of lines, empty lines at the end."""
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def updated(page, results):
    """Return the page with the outputs replaced."""
    lines = page.splitlines()
    for block, real in reversed(results):
        opening = lines[block.start - 1]
        indent = opening[: len(opening) - len(opening.lstrip())]
        lines[block.start : block.stop] = [(indent + line).rstrip() for line in real.splitlines()]
    return "\n".join(lines) + "\n"


def _namespace(name, monkeypatch):
    """Return the one namespace of a page: that of a module which can be found under its name."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    return vars(module)


@pytest.fixture
def namespace(monkeypatch):
    return _namespace("example", monkeypatch)


@pytest.fixture(autouse=True)
def own_rules():
    """Rules that a page gives to what has some are gone after it, as for a method of NumPy's."""
    registry.load_rules()
    before = registry._rules.copy()
    yield
    registry._rules.update(before)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path):
    named = re.findall(r"\]\(([^)#:]+\.\w+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in named if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path, tmp_path, namespace, monkeypatch):
    if path.name in NEEDS:
        pytest.importorskip(NEEDS[path.name])
    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    device = strict.installed() if path.name == "cupy.md" else contextlib.nullcontext()
    with device:
        results = list(run(page, tmp_path, namespace))
    if UPDATE:
        path.write_text(updated(page, results), encoding="utf-8")
        return
    for block, real in results:
        assert _tidy(block.text) == real, f"{path.name}:{block.start}: not the real output"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_runs_as_a_script(path, tmp_path, monkeypatch):
    """What a page defines is then defined in __main__, which no other module can import."""
    if path.name in NEEDS:
        pytest.importorskip(NEEDS[path.name])
    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    with strict.installed() if path.name == "cupy.md" else contextlib.nullcontext():
        for block, printed in run(page, tmp_path, _namespace("__main__", monkeypatch)):
            assert printed, f"{path.name}:{block.start}: nothing is printed"


def test_there_is_a_readme():
    assert ROOT / "README.md" in PAGES


# --- the test above sees what it should ----------------------------------------------------------

PAGE = """\
# Title

```python
def f(x):
    return x + 1
```

```text
not an output
```

```python
import inspect
print(f(1), "  ")
print(inspect.getsource(f))
```

<!-- output -->
```text
WRONG
```

1. In a list:

   ````python
   print("```")
   ````

   <!-- output -->

   ````text
   ```
   ````

```console
rm nothing
```
"""


def test_blocks():
    assert [(b.language, b.is_output) for b in blocks(PAGE)] == [
        ("python", False),
        ("text", False),
        ("python", False),
        ("text", True),
        ("python", False),
        ("text", True),
        ("console", False),
    ]
    assert blocks(PAGE)[4].text == 'print("```")\n'


def test_outputs(tmp_path, namespace):
    results = list(run(PAGE, tmp_path, namespace))
    assert [(_tidy(block.text), real) for block, real in results] == [
        ("WRONG\n", "2\ndef f(x):\n    return x + 1\n"),
        ("```\n", "```\n"),
    ]


def test_update(tmp_path, namespace):
    page = updated(PAGE, list(run(PAGE, tmp_path, namespace)))
    assert page == PAGE.replace("WRONG", "2\ndef f(x):\n    return x + 1")


def test_output_without_a_program(tmp_path, namespace):
    with pytest.raises(AssertionError, match="line 2: no block before it prints"):
        list(run("<!-- output -->\n```text\n1\n```\n", tmp_path, namespace))
