"""Golden pairs: programs, and the exact text of what is derived from them.

golden/targets/   programs with their derivatives by hand, which the derived text must not exceed
golden/programs/  further programs: a function named after its file, arguments(), WRT, perhaps MODE
golden/derived/   what is derived: `S2SAD_UPDATE=1 pytest tests/test_golden.py` writes it anew

    python tests/test_golden.py horner      prints what is derived now
"""

import ast
import copy
import difflib
import functools
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import counting
import duals
import numpy as np
import pytest
from targets import TARGETS, load_file

import s2sad
from s2sad.capture.normalise import normalise
from s2sad.capture.read import read

HERE = Path(__file__).parent
PROGRAMS = HERE / "golden" / "programs"
DERIVED = HERE / "golden" / "derived"
UPDATE = bool(os.environ.get("S2SAD_UPDATE"))
PYTHONS = ("python3.11", "python3.12", "python3.13")
COLUMNS = 100
BROADCASTING = {"network", "cavity_edges", "momentum", "relax", "wave_history"}


@dataclass(frozen=True)
class Pair:
    """A program of either folder: what is derived from it, and how to call it."""

    name: str
    f: types.FunctionType
    mode: str
    wrt: tuple[int, ...]
    args: tuple
    oracle: str

    @property
    def operator_wrt(self):
        """The wrt to give to an operator."""
        return self.wrt if len(self.wrt) > 1 else self.wrt[0]

    @property
    def golden(self) -> Path:
        """The file that holds the derived text."""
        return DERIVED / f"{self.name}.py"

    def gradients(self, derived, args) -> list:
        """The gradients that a derived function returns, one per position in wrt."""
        result = derived(*args)
        if self.mode == "vjp":
            result = result[1](1.0)
        elif self.mode == "value_and_grad":
            result = result[1]
        return list(result) if len(self.wrt) > 1 else [result]

    def expected(self, args) -> np.ndarray:
        """The gradients at args, by the oracle, as a vector."""
        if self.oracle == "differences":
            return duals.differences(self.f, args, self.wrt)[0]
        return duals.ravel(duals.gradient(self.f, args, self.wrt))


def pairs() -> dict[str, Pair]:
    """All programs by name."""
    found = {
        t.module: Pair(t.module, t.primal(), t.mode, t.wrt, t.args[0], "duals") for t in TARGETS
    }
    for path in sorted(PROGRAMS.glob("*.py")):
        m = load_file(path, f"golden_{path.stem}")
        mode = getattr(m, "MODE", "grad")
        oracle = getattr(m, "ORACLE", "duals")
        f = getattr(m, path.stem)
        found[path.stem] = Pair(path.stem, f, mode, m.WRT, m.arguments(), oracle)
    return found


PAIRS = pairs()
each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
each_target = pytest.mark.parametrize("target", TARGETS, ids=[t.module for t in TARGETS])


@functools.lru_cache(maxsize=None)
def text_of(name: str) -> str:
    """What is derived from a program now."""
    pair = PAIRS[name]
    return s2sad.source(pair.f, mode=pair.mode, wrt=pair.operator_wrt, args=pair.args)


def functions_of(name: str, folder: Path) -> types.ModuleType:
    """The derived text of now, imported from a file."""
    path = folder / f"derived_{name}.py"
    path.write_text(text_of(name), encoding="utf-8")
    return load_file(path)


def derived_function(pair: Pair, folder: Path):
    """The entry function of the derived text of now."""
    return getattr(functions_of(pair.name, folder), f"{pair.f.__name__}_{pair.mode}")


# --- the text ------------------------------------------------------------------------------------


@each_pair
def test_text(pair):
    text = text_of(pair.name)
    if UPDATE:
        DERIVED.mkdir(exist_ok=True)
        pair.golden.write_text(text, encoding="utf-8")
    golden = pair.golden.read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        golden.splitlines(), text.splitlines(), "golden", "derived", lineterm=""
    )
    assert text == golden, "\n".join(difference)


@each_pair
def test_no_line_of_the_users_file_is_in_the_text(pair):
    assert not re.search(r"\.py:\d", text_of(pair.name))


def test_every_golden_has_a_program():
    assert {path.stem for path in DERIVED.glob("*.py")} == set(PAIRS)
    assert len(PAIRS) >= len(TARGETS) + 30


@each_target
def test_no_more_than_by_hand(target):
    text = text_of(target.module)
    by_hand = target.path.read_text(encoding="utf-8")
    more = counting.excess(
        counting.count(text), counting.count(by_hand, (target.derived, *target.helpers))
    )
    assert not more, f"{more}\n{text}"


@each_pair
def test_source_of_operator(pair):
    if pair.mode == "vjp":
        pytest.skip("vjp is called with the arguments; it has no source of its own")
    operator = getattr(s2sad, pair.mode)(pair.f, pair.operator_wrt)
    assert operator.source(*pair.args) == text_of(pair.name)


@each_pair
def test_layout(pair):
    text = text_of(pair.name)
    lines = text.split("\n")
    assert [line for line in lines if len(line) > COLUMNS] == []
    assert [line for line in lines if line != line.rstrip()] == []
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert "\n\n\n\n" not in text


@each_pair
def test_headings(pair):
    """Every heading stands over a statement, and no two alike follow each other in one block."""
    lines = text_of(pair.name).split("\n")
    for line, following in zip(lines, lines[1:]):
        if line.strip().startswith("# "):
            assert following.strip(), f"{line!r} stands over nothing"
            if following.strip().startswith("#     "):
                continue
            assert not following.strip().startswith("# "), f"{line!r} stands over a heading"
            indent = len(line) - len(line.lstrip())
            assert len(following) - len(following.lstrip()) >= indent, f"{line!r} ends a block"
            assert not following.strip().startswith("return "), f"{line!r} stands over the return"


@each_pair
def test_no_unbroadcast(pair):
    """The kinds of all these programs exclude broadcasting where it is not written out.

    In some they do not: the arrays of a list have unknown lengths, one of which may be 1, and so
    has a part of one array beside a part of another.
    """
    assert ("unbroadcast" in text_of(pair.name)) == (pair.name in BROADCASTING)


@each_pair
def test_nothing_for_const(pair):
    """A parameter that is Const and never assigned again has no cotangent."""
    node = read(pair.f).node
    parameters = [a.id for a in node.args.args]
    _, stored = reads_and_writes(ast.parse(inspect.getsource(pair.f)))
    constant = {p for i, p in enumerate(parameters) if i not in pair.wrt} - stored
    entry = functions(text_of(pair.name))[f"{pair.f.__name__}_{pair.mode}"]
    named = {n.id for n in ast.walk(entry) if isinstance(n, ast.Name)}
    assert named.isdisjoint(f"{p}_bar" for p in constant)


def functions(text: str) -> dict[str, ast.FunctionDef]:
    """The functions at the top level of a text, by name."""
    return {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}


def reads_and_writes(node: ast.AST) -> tuple[set[str], set[str]]:
    """The names that are read and those that are assigned anywhere in a node."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    reads = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    return reads, {n.id for n in names if isinstance(n.ctx, ast.Store)}


@each_pair
def test_all_that_is_assigned_is_read(pair):
    """No assignment for nothing; a tuple taken apart and a loop variable may have idle parts."""
    idle = set()
    for node in functions(text_of(pair.name)).values():
        reads, _ = reads_and_writes(node)
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                idle |= {statement.targets[0].id} - reads
    assert not idle


# --- what it computes ----------------------------------------------------------------------------


@each_pair
def test_gradient(pair, tmp_path):
    derived = derived_function(pair, tmp_path)
    args = copy.deepcopy(pair.args)
    got = pair.gradients(derived, args)
    again = pair.gradients(derived, args)
    want = pair.expected(copy.deepcopy(pair.args))
    tolerance = 1e-6 if pair.oracle == "differences" else 1e-9
    np.testing.assert_allclose(duals.ravel(got), want, rtol=tolerance, atol=tolerance * 1e-2)
    assert duals.ravel(again).tobytes() == duals.ravel(got).tobytes()
    assert duals.ravel(list(args)).tobytes() == duals.ravel(list(pair.args)).tobytes()
    for position, gradient in zip(pair.wrt, got, strict=True):
        assert type(gradient) is type(pair.args[position]) or np.isscalar(gradient)


def by_operator(pair: Pair) -> list:
    """The gradients as a user gets them."""
    if pair.mode == "vjp":

        def operator(*args):
            return s2sad.vjp(pair.f, *args, wrt=pair.operator_wrt)
    else:
        operator = getattr(s2sad, pair.mode)(pair.f, pair.operator_wrt)
    return pair.gradients(operator, copy.deepcopy(pair.args))


@each_pair
def test_gradient_of_operator(pair, tmp_path):
    by_text = pair.gradients(derived_function(pair, tmp_path), copy.deepcopy(pair.args))
    assert duals.ravel(by_operator(pair)).tobytes() == duals.ravel(by_text).tobytes()


@pytest.mark.parametrize("name", ["network", "reduce_scan", "gaussian_process"])
def test_first_call_of_a_process(name):
    """NumPy imports parts of itself when they are first called, from whatever calls them."""
    run = subprocess.run(
        [sys.executable, str(HERE / "test_golden.py"), "--call", name],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@each_target
def test_gradient_beside_by_hand(target, tmp_path):
    pair = PAIRS[target.module]
    derived = derived_function(pair, tmp_path)
    for args in target.args:
        got = target.gradients(derived(*args))
        want = target.gradients(target.by_hand()(*args))
        for g, w in zip(got, want, strict=True):
            assert np.shape(g) == np.shape(w)
            np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-14)


# --- the text elsewhere --------------------------------------------------------------------------


@each_pair
def test_given_to_the_tool_again(pair, tmp_path):
    """Reading and normalising what was emitted refuses nothing."""
    module = functions_of(pair.name, tmp_path)
    for name in functions(text_of(pair.name)):
        source = read(vars(module)[name])
        assert normalise(source, source.node, set()).node.body


def interpreters() -> list[str]:
    """This Python, those asked for, and the supported ones: not all of them need be here."""
    given = os.environ.get("S2SAD_PYTHONS", "").split(os.pathsep)
    return list(dict.fromkeys([sys.executable, *filter(None, given), *PYTHONS]))


@functools.cache
def has_s2sad(python: str) -> bool:
    """Tell whether another Python imports this very s2sad."""
    ask = "import s2sad; print(s2sad.__file__)"
    run = subprocess.run([python, "-c", ask], capture_output=True, text=True, cwd="/")
    return run.returncode == 0 and run.stdout.strip() == s2sad.__file__


def everything(python: str, seed: str) -> dict[str, str]:
    """All texts, derived in a fresh process."""
    env = dict(os.environ, PYTHONHASHSEED=seed)
    run = subprocess.run(
        [python, str(HERE / "test_golden.py"), "--json"],
        capture_output=True,
        text=True,
        env=env,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("seed", ["1", pytest.param("2", marks=pytest.mark.full)])
def test_same_text_everywhere(python, seed):
    """What this process derives has a hash seed of its own."""
    path = shutil.which(python)
    if path is None or (python in PYTHONS and path == sys.executable) or not has_s2sad(path):
        pytest.skip(f"there is no other {python} with this s2sad")
    texts = everything(path, seed)
    assert set(texts) == set(PAIRS)
    for name, text in texts.items():
        if text is not None:
            assert text == text_of(name), f"{name}: another text under {python}, hash seed {seed}"


def text_or_none(name: str) -> str | None:
    """What is derived from a program; None where it is refused, which test_text reports."""
    try:
        return text_of(name)
    except s2sad.Error:
        return None


if __name__ == "__main__":
    if sys.argv[1:] == ["--json"]:
        print(json.dumps({name: text_or_none(name) for name in PAIRS}))
    elif sys.argv[1:2] == ["--call"]:
        print(by_operator(PAIRS[sys.argv[2]]))
    else:
        for wanted in sys.argv[1:] or PAIRS:
            print(text_of(wanted))
