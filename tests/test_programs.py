"""The generator of random programs, its judge, its comparison and its shrinker."""

import ast
import copy
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import types

import duals
import numpy as np
import programs
import pytest
from grammar import CONSTRUCTS

HERE = pathlib.Path(__file__).parent
COUNT = 1000
FULL = pytest.mark.full
DIGEST = """
import hashlib, mutating, random, statements
one = mutating.one_writing
texts = [statements.render(statements.candidate(random.Random(s), one)[0]) for s in range(60)]
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def sample(count=60):
    return [programs.generate(seed) for seed in range(count)]


def digest(python, hash_seed):
    """Return a digest of the first candidates as another process writes them."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONHASHSEED": hash_seed}
    command = [python, "-c", DIGEST]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_programs_are_modules_with_source():
    for program in sample():
        module = program.load()
        assert inspect.getsource(module.f).startswith("def f(")
        parameters = list(inspect.signature(module.f).parameters)
        assert len(parameters) == len(module.arguments())
        assert module.WRT == program.wrt and 1 <= len(program.wrt) <= 3
        assert isinstance(module.f(*module.arguments()), float)
        code = program.text.partition("def arguments")[0]
        assert max(map(len, code.splitlines())) <= 200
        programs.unload(module)


def test_arguments_are_fresh_each_time():
    for program in sample(20):
        module = program.load()
        assert programs.same(module.arguments(), module.arguments())
        for first, second in zip(module.arguments(), module.arguments()):
            if isinstance(first, (np.ndarray, list, dict)):
                assert first is not second
        programs.unload(module)


def test_lengths_are_of_a_human_program():
    lengths = [len([line for line in p.text.splitlines() if line]) for p in sample(200)]
    assert min(lengths) >= 8 and max(lengths) <= 40
    assert len({p.text for p in sample(200)}) == 200


def test_a_seed_gives_one_program():
    program = programs.generate(3)
    assert programs.generate.__wrapped__(3) == program


def test_the_text_depends_on_the_seed_alone():
    expected = digest(sys.executable, "0")
    assert digest(sys.executable, "1") == expected
    for name in ("python3.11", "python3.12", "python3.13"):
        python = shutil.which(name)
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            assert digest(python, "2") == expected, name


@pytest.mark.parametrize("count, least", [(250, 0.01), pytest.param(COUNT, 0.02, marks=FULL)])
def test_each_construct_occurs_active(count, least):
    rates = programs.rates(programs.generate(seed) for seed in range(count))
    assert set(rates) == set(CONSTRUCTS)
    assert not {name: rate for name, rate in rates.items() if rate < least}


def test_only_known_constructs_are_marked():
    used = frozenset().union(*(p.constructs for p in sample(200)))
    assert used <= set(CONSTRUCTS)


def test_few_candidates_are_rejected():
    rejected = sum(p.rejected for p in sample(200))
    assert rejected < 0.3 * (200 + rejected)


def test_programs_agree_with_differences_and_end():
    for program in sample():
        module = program.load()
        value, executed = programs.traced(module, module.f, module.arguments())
        run = duals.run(module.f, module.arguments(), program.wrt)
        expected, bound = duals.differences(module.f, module.arguments(), program.wrt, step=2e-4)
        error = np.abs(duals.ravel(run.gradients) - expected)
        assert np.all(error <= 20 * bound + 1e-5 * (1 + np.abs(expected))), program.text
        assert run.value == pytest.approx(value, rel=1e-12) and executed
        assert run.margin >= programs.MARGIN
        programs.unload(module)


def test_a_program_that_does_not_end_is_rejected():
    text = (
        "def f(x):\n    while True:\n        x = x * 1.0\n\n\ndef arguments():\n    return (1.0,)\n"
    )
    module = programs.load(text)
    assert programs.judged(module, (0,))[0] == "long"


@pytest.mark.parametrize(
    "line, reason",
    [
        ("return x if x > 1.0001 else 2 * x", "margin"),
        ("return 3.0", "inactive"),
        ("return 1e9 * x", "wild"),
        ("return x / 0.0", "ZeroDivisionError"),
        ("return np.sum(np.array([x]) * np.float64(1e300)) * 1e300", "RuntimeWarning"),
        ("return int(x)", "result"),
        ("return math.sin(x * 3e3)", "differences"),
    ],
)
def test_the_judge(line, reason):
    head = "import math\nimport numpy as np\n\n\n"
    text = f"{head}def f(x):\n    {line}\n\n\ndef arguments():\n    return (1.0,)\n"
    assert programs.judged(programs.load(text), (0,))[0] == reason


def tool(change=lambda gradients: gradients, on=""):
    """Return a stand-in for s2sad: the oracle, with a fault planted in functions that use `on`."""

    def grad(f, wrt):
        def derived(*args):
            gradients = tuple(duals.gradient(f, args, wrt))
            return change(gradients) if on in inspect.getsource(f) else gradients

        return derived

    def value_and_grad(f, wrt):
        return lambda *args: (f(*copy.deepcopy(args)), grad(f, wrt)(*args))

    return types.SimpleNamespace(grad=grad, value_and_grad=value_and_grad)


def test_the_oracle_agrees_with_itself():
    for program in sample(30):
        module = program.load()
        assert programs.trouble(tool(), module, program.wrt) == ("", "")
        programs.unload(module)


FAULTS = {
    "gradient": lambda gs: tuple(duals.tree_map(lambda leaf: leaf * (1 + 1e-6), g) for g in gs),
    "structure": lambda gs: gs[:-1],
}


@pytest.mark.parametrize("kind", FAULTS)
def test_the_comparison_finds_a_fault(kind):
    module = programs.generate(5).load()
    assert programs.trouble(tool(FAULTS[kind]), module, module.WRT)[0] == kind


def test_the_comparison_finds_changed_arguments():
    def clobber(x):
        if isinstance(x, np.ndarray):
            x += 1.0

    text = "def f(x):\n    return x[0]\n\n\ndef arguments():\n    return (np.array([1.0, 2.0]),)\n"
    module = programs.load("import numpy as np\n\n\n" + text)
    honest = tool()

    def value_and_grad(f, wrt):
        def derived(*args):
            result = honest.value_and_grad(f, wrt)(*args)
            clobber(args[0])
            return result

        return derived

    broken = types.SimpleNamespace(value_and_grad=value_and_grad)
    assert programs.trouble(broken, module, (0,))[0] == "arguments"


@pytest.mark.parametrize("construct, part", [("cumsum", "np.cumsum"), ("while", "while ")])
def test_shrinking_a_planted_fault(construct, part):
    program = next(
        p for p in sample(200) if construct in p.constructs and part in p.text.split("def f(")[1]
    )
    faulty = tool(FAULTS["gradient"], on=part)

    def still_fails(text):
        module = programs.load(text)
        try:
            return programs.trouble(faulty, module, module.WRT)[0] == "gradient"
        finally:
            programs.unload(module)

    small = programs.shrink(program.text, still_fails)
    assert still_fails(small) and part in small
    function = next(
        node
        for node in ast.parse(small).body
        if isinstance(node, ast.FunctionDef) and node.name == "f"
    )
    assert len(function.body) <= 4, small
