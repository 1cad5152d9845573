"""Derived files: what is written over, their headers, whether they are still what is derived."""

import importlib
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import cli
from s2sad.tools.page import view
from s2sad.write import header
from s2sad.write.wrap import columns

MODEL = """
    import collections
    import dataclasses
    import enum

    import numpy as np
    import s2sad

    X = np.ones((4, 3))
    y = np.ones(4)


    class Net:
        def __init__(self):
            self.w = np.ones(3)

        def energy(self, x):
            return np.sum(np.tanh(self.w * x))


    net = Net()


    class Way(enum.Enum):
        UP = 1
        DOWN = 2


    @dataclasses.dataclass
    class Rates:
        k: float
        ways: tuple
        table: np.ndarray = None


    Pair = collections.namedtuple("Pair", "a rates")


    def rated(pair, x):
        sign = 1.0 if pair.rates.ways[0] is Way.UP else -1.0
        return sign * pair.rates.k * np.sum(pair.a * x)


    def loss(w, X, y, rate=0.5):
        r = X @ w - y
        r[1:] *= rate
        return 0.5 * np.sum(r * r)


    def pair(w, n):
        return np.sum(w * w) * n, n


    def step(T, rate):
        T[1:] = T[1:] * rate


    def typed(x: float, n: int = 2):
        return x**n


    def nested(params, scale, *more, flag=True):
        return params["a"] * np.sum(params["b"][0]) * scale + sum(more)


    def named(x, *, power):
        return x**power


    square = lambda x: x * x
    square_gradient = s2sad.grad(square)


    @s2sad.differentiate(wrt="w")
    def decorated(x, w):
        return np.sum(x * w * w)
"""
ARGS = "np.ones(3), X, y"
LOSS = ["model.py:loss", "--wrt", "w", "--args", ARGS]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A repository with a model in it, that we are in."""
    home = tmp_path / "repository"
    home.mkdir()
    (home / ".git").mkdir()
    (home / "model.py").write_text(textwrap.dedent(MODEL))
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield home
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def model(folder):
    sys.path.insert(0, str(folder))
    return importlib.import_module("model")


def emit(*words):
    return cli.main(["emit", *words])


def edited(file, old, new):
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))
    for name in ("model", "pkg.model"):
        sys.modules.pop(name, None)


# --- nothing is lost -----------------------------------------------------------------------------

OTHERS = ["", "import numpy as np\n", "\n# Derived by s2sad\n", "# derived by s2sad\n", "\x00\x01"]


@pytest.mark.parametrize("text", OTHERS)
def test_what_somebody_else_wrote_stays(model, folder, capsys, text):
    path = folder / "mine.py"
    path.write_bytes(text.encode())
    writes = (
        lambda: s2sad.grad(model.loss).emit(path, np.ones(3), model.X, model.y),
        lambda: s2sad.emit(model.loss, path, args=(np.ones(3), model.X, model.y)),
        lambda: s2sad.hessian(model.loss).emit(path, np.ones(3), model.X, model.y),
        lambda: s2sad.jacobian(model.loss).emit(path, np.ones(3), model.X, model.y),
        lambda: view(model.loss, path, args=(np.ones(3), model.X, model.y)),
    )
    for write in writes:
        with pytest.raises(s2sad.Error, match="mine.py exists, and s2sad did not write it") as e:
            write()
        assert "Choose another file" in str(e.value)
        assert path.read_bytes() == text.encode()
    assert emit(*LOSS, "-o", "mine.py") == 1
    assert cli.main(["view", *LOSS, "-o", "mine.py"]) == 1
    assert "mine.py exists" in capsys.readouterr().err
    assert path.read_bytes() == text.encode()
    assert set(os.listdir(folder)) - {"__pycache__"} == {".git", "mine.py", "model.py"}


@pytest.mark.parametrize("link", ["model.py", "linked.py", "hard.py", "sub/../model.py"])
def test_the_source_stays(model, folder, link):
    (folder / "sub").mkdir()
    os.symlink(folder / "model.py", folder / "linked.py")
    os.link(folder / "model.py", folder / "hard.py")
    source = (folder / "model.py").read_bytes()
    assert emit(*LOSS, "-o", link) == 1
    with pytest.raises(s2sad.Error, match="holds the source of the function"):
        s2sad.grad(model.loss).emit(link, np.ones(3), model.X, model.y)
    assert (folder / "model.py").read_bytes() == source


def test_the_source_stays_where_it_is_a_derived_file_itself(model, folder):
    assert emit("model.py:typed", "-o", "typed_grad.py") == 0
    before = (folder / "typed_grad.py").read_text()
    assert emit("typed_grad.py:typed_grad", "--args", "2.0, 2", "-o", "typed_grad.py") == 1
    assert (folder / "typed_grad.py").read_text() == before
    assert emit("typed_grad.py:typed_grad", "--args", "2.0, 2", "-o", "second.py") == 0


def test_an_interruption_loses_nothing(model, folder, monkeypatch):
    path = s2sad.grad(model.square).emit("square_grad.py", 2.0)
    before = path.read_text()

    def interrupted(*_):
        raise KeyboardInterrupt

    for place, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                s2sad.grad(model.square).emit(path, 2.0)
        assert path.read_text() == before
        assert not [name for name in os.listdir(folder) if name.startswith(".square")]


def test_permissions_and_links_stay(model, folder):
    old = os.umask(0o022)
    try:
        path = s2sad.grad(model.square).emit(folder / "square_grad.py", 2.0)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o751)
    os.symlink(path, folder / "link.py")
    s2sad.value_and_grad(model.square).emit(folder / "link.py", 2.0)
    assert path.stat().st_mode & 0o777 == 0o751
    assert (folder / "link.py").is_symlink() and "value_and_grad" in path.read_text()


def test_a_page_is_written_over_a_page(model, folder):
    path = view(model.square, "page.html", args=(2.0,))
    first = path.read_text()
    assert view(model.square, "page.html", args=(2.0,)).read_text() == first
    with pytest.raises(s2sad.Error, match="did not write it"):
        s2sad.grad(model.square).emit("page.html", 2.0)
    assert path.read_text() == first


def test_into_a_pipe(model):
    read, write = os.pipe()
    s2sad.grad(model.square).emit(f"/dev/fd/{write}", 2.0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read().startswith("# Derived by s2sad")


# --- the header ----------------------------------------------------------------------------------


def test_the_header_of_a_command(folder):
    assert emit(*LOSS, "-o", "loss_grad.py") == 0
    assert (
        (folder / "loss_grad.py")
        .read_text()
        .startswith(
            "# Derived by s2sad. Do not edit: change the source, and run the command again.\n"
            "#\n"
            f"# version: {s2sad.__version__}\n"
            f"# command: s2sad emit model.py:loss --wrt w --args '{ARGS}' -o loss_grad.py\n"
            "# kinds:   w: a 1-d array of float64\n"
            "#          X: a 2-d array of float64, not of length 1 along axis 0\n"
            "#          y: a 1-d array of float64\n"
            "#          rate: a float\n"
            "# guards:  loss_grad checks the kinds of w, X, y, rate\n"
            "\n"
            "import numpy as np\n"
        )
    )


def test_guards_in_the_header(model):
    path = s2sad.emit(
        model.step,
        "step.py",
        mode="reverse",
        args=(s2sad.Duplicated(np.ones(3), np.ones(3)), np.ones(1)),
    )
    text = path.read_text()
    assert "# guards:  step_reverse checks the kinds of T, rate\n" in text
    assert "#          refused: T and rate share memory, which is written\n" in text


def test_paths_begin_at_the_project_wherever_one_is(folder, monkeypatch):
    package = folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (folder / "model.py").rename(package / "model.py")
    texts = set()
    for place, prefix in ((folder, "pkg/"), (package, ""), (folder / ".git", "../pkg/")):
        monkeypatch.chdir(place)
        assert emit(f"{prefix}model.py:loss", *LOSS[1:], "-o", f"{prefix}loss_grad.py") == 0
        texts.add((package / "loss_grad.py").read_text())
        assert emit("--check", f"{prefix}loss_grad.py") == 0
    (text,) = texts
    assert "# command: s2sad emit pkg/model.py:loss --wrt w " in text and str(folder) not in text
    assert " -o pkg/loss_grad.py\n" in text


def test_the_text_is_the_same_under_every_hash_seed(folder):
    texts = set()
    for seed in ("0", "1", "77"):
        command = [
            sys.executable,
            "-m",
            "s2sad",
            "emit",
            "model.py:nested",
            "--args",
            "{'a': 1.0, 'b': [np.ones(2), 1]}, 2.0, 3.0",
        ]
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        texts.add(run.stdout)
    (text,) = texts
    assert "{'a': a float, 'b': [a 1-d array of float64, not of length 1, an int]}" in text


LONG = [
    "pkg.module:function",
    "--args",
    "np.ones(3), " * 8 + "'a b\\\\'",
    "--wrt",
    "w,b",
    "-o",
    "f.py",
]


@pytest.mark.parametrize("count", [40, 60, 100])
@pytest.mark.parametrize(
    "words", [["m:f"], LONG, ["m:f", "--args", "\"it's\", '\\\\'"], ["m:f", "--args", ""]]
)
def test_commands_are_read_as_they_were_written(count, words):
    with columns(count):
        text = header.header("1.2", words, ["x: a float"], [])
    assert header.command_in(text + "\nx = 1\n") == words
    assert all(line.startswith("#") for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= max(count, 140)


def test_why_there_is_no_command():
    text = header.header("1.2", "made by hand " * 12, [], [])
    assert header.command_in(text) == ("made by hand " * 12).strip()
    assert "no command" in header.command_in("# Derived by s2sad from f in m.py: edit that.\n\nx=1")
    assert header.command_in("import numpy\n") is None


# --- emits of Python -----------------------------------------------------------------------------

X3 = np.ones(3)
CALLS = {
    "loss": lambda m: (s2sad.grad(m.loss), (np.ones(7), np.ones((9, 7)), m.y)),
    "by_name": lambda m: (s2sad.grad(m.loss, wrt=-1), (np.ones(3), m.X, m.y, 0.1)),
    "value": lambda m: (s2sad.value_and_grad(m.loss, wrt=("w", 1)), (np.ones(3), m.X, m.y)),
    "one": lambda m: (s2sad.grad(m.loss, wrt=("w",)), (np.ones(3, "float32"), m.X, m.y)),
    "aux": lambda m: (s2sad.grad(m.pair, has_aux=True), (np.ones(3), 2)),
    "typed": lambda m: (s2sad.grad(m.typed), ()),
    "nested": lambda m: (
        s2sad.grad(m.nested),
        ({"a": 1.5, "b": (np.ones((2, 1)), 3)}, np.float32(2), 1.0, 2.0),
    ),
    "lambda": lambda m: (s2sad.grad(m.square), (2.0,)),
    "method": lambda m: (s2sad.grad(m.Net.energy, wrt="x"), (m.net, np.ones(3))),
    "decorated": lambda m: (m.decorated.grad, (np.ones(3), np.ones(3))),
    "objects": lambda m: (
        s2sad.grad(m.rated, wrt="pair.a"),
        (m.Pair(X3, m.Rates(2.0, (m.Way.DOWN,))), X3),
    ),
    "jacobian": lambda m: (s2sad.jacobian(m.typed, mode="reverse"), (2.0, 3)),
    "second order": lambda m: (s2sad.grad(m.square_gradient), (2.0,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_in_python_says_its_command(model, folder, name):
    operator, args = CALLS[name](model)
    path = operator.emit(folder / "made.py", *args)
    words = header.command_in(path.read_text())
    assert isinstance(words, list), words
    assert words[0].startswith("model.py:")
    assert emit("--check", "made.py") == 0
    first = path.read_text()
    assert emit("made.py") == 0
    assert path.read_text() == first


def test_a_call_in_python_with_shadows(model, folder, capsys):
    args = (s2sad.Duplicated(np.ones(5), np.ones(5)), 0.5)
    path = s2sad.emit(model.step, "step_reverse.py", mode="reverse", args=args)
    words = header.command_in(path.read_text())
    assert words[:3] == ["model.py:step", "--mode", "reverse"]
    assert words[3:5] == ["--args", "Duplicated(np.ones(3), np.ones(3)), 1.0"]
    assert emit("--check", "step_reverse.py") == 0


def unnamed(m):
    k = 3.0
    return lambda x: x * k


WITHOUT = {
    "an instance of Net": lambda m: s2sad.grad(m.Net.energy, wrt="x").emit("no.py", m.Net(), X3),
    "cannot name": lambda m: s2sad.grad(unnamed(m)).emit("no.py", 2.0),
    "by a call in Python": lambda m: s2sad.grad(m.square, debug_nans=True).emit("no.py", 2.0),
    "as a function of a module": lambda m: s2sad.hessian(m.square).emit("no.py", 2.0),
    "keyword-only arguments": lambda m: s2sad.grad(m.named).emit("no.py", 2.0, power=2),
}


@pytest.mark.parametrize("reason", WITHOUT)
def test_a_call_in_python_without_a_command(model, folder, capsys, reason):
    path = WITHOUT[reason](model)
    assert reason in header.command_in(path.read_text())
    assert emit("--check", "no.py") == 2
    said = capsys.readouterr().err
    assert "no.py cannot be compared" in said and reason in said and "--args" in said


# --- --check -------------------------------------------------------------------------------------


def test_check_by_the_header_alone(folder, capsys):
    assert emit(*LOSS, "-o", "loss_grad.py") == 0
    capsys.readouterr()
    assert emit("--check", "loss_grad.py") == 0
    assert capsys.readouterr() == ("", "")
    edited("model.py", "X = np", "import os\n\nX = np")
    assert emit("--check", "loss_grad.py") == 0
    edited("model.py", "0.5 * np.sum", "0.25 * np.sum")
    before = (folder / "loss_grad.py").read_text()
    assert emit("--check", "loss_grad.py") == 1
    out, err = capsys.readouterr()
    assert out.startswith("--- loss_grad.py\n+++ loss_grad.py (derived now)\n@@ ")
    assert "r_bar = 0.5 * r\n" in out and "\n-    r_bar" in out
    assert "loss_grad.py is not what is derived now" in err
    assert (folder / "loss_grad.py").read_text() == before
    assert emit("loss_grad.py") == 0
    assert emit("--check", "loss_grad.py") == 0


def test_the_version_alone_makes_no_file_stale(folder, capsys):
    assert emit(*LOSS, "-o", "loss_grad.py") == 0
    edited("loss_grad.py", f"version: {s2sad.__version__}", "version: 0.0.7")
    assert emit("--check", "loss_grad.py") == 0
    edited("loss_grad.py", "kinds:   w: a 1-d", "kinds:   w: a 2-d")
    assert emit("--check", "loss_grad.py") == 1


def test_an_edit_of_the_derived_file(folder, capsys):
    assert emit(*LOSS, "-o", "loss_grad.py") == 0
    edited("loss_grad.py", "return X.T", "return 2.0 * X.T")
    assert emit("--check", "loss_grad.py") == 1
    assert "-    return 2.0 * X.T @ r_bar\n+    return X.T @ r_bar\n" in capsys.readouterr().out


def test_check_with_the_whole_command(folder, capsys):
    assert emit(*LOSS, "-o", "loss_grad.py", "--check") == 1
    assert "loss_grad.py does not exist" in capsys.readouterr().err
    assert not (folder / "loss_grad.py").exists()
    emit(*LOSS, "-o", "loss_grad.py")
    assert emit(*LOSS, "-o", "loss_grad.py", "--check") == 0
    (folder / "loss_grad.py").write_bytes(b"\xff\xfe")
    assert emit(*LOSS, "-o", "loss_grad.py", "--check") == 1
    text = (folder / "loss_grad.py").read_bytes()
    assert text == b"\xff\xfe"


def test_check_shows_a_missing_last_newline(folder, capsys):
    emit(*LOSS, "-o", "loss_grad.py")
    path = folder / "loss_grad.py"
    path.write_text(path.read_text().rstrip("\n"))
    assert emit("--check", "loss_grad.py") == 1
    assert "\\ No newline at end of file\n" in capsys.readouterr().out


def test_differences_in_colour(folder, capsys, monkeypatch):
    emit(*LOSS, "-o", "loss_grad.py")
    edited("loss_grad.py", "return X.T", "return 2.0 * X.T")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert emit("--check", "loss_grad.py") == 1
    assert "\x1b[31m-    return 2.0 * X.T @ r_bar\x1b[0m\n" in capsys.readouterr().out


USAGE = [
    (["--check", "none.py"], "cannot read none.py: No such file or directory"),
    (["--check", "model.py"], "model.py is not a derived file: it does not begin with"),
    (["--check"], "there is no pyproject.toml here"),
    ([], "there is no pyproject.toml here"),
    (["--check", *LOSS], "--check needs the file to compare with: name it with -o"),
    (["good.py", "model.py:loss"], "emit takes one function, or derived files: not both"),
    (["model.py:loss", "model.py:typed"], "emit takes one function"),
    (["good.py", "--wrt", "w"], "--wrt needs a function; the header of a derived file says how"),
    (["good.py", "--check", "-o", "x.py"], "-o needs a function"),
    (["--check", "*.txt"], "no file is named like *.txt"),
    (["--check", "old.py"], "old.py cannot be compared: the header has no command"),
    (["--check", "gone.py"], "model.py has no 'lost'; did you mean 'loss'?"),
    (["--check", "odd.py"], "`s2sad emit model.py:loss --sideways` makes no sense: unrecognized"),
    ([*LOSS, "-o", "none/x.py"], "cannot write none/x.py: No such file or directory"),
    ([*LOSS[:2], "z", "-o", "x.py"], "--wrt 'z' names no parameter of loss"),
    (["model.py:Net", "-o", "x.py"], "Net is a class; name a method: model.py:Net.energy"),
]


@pytest.mark.parametrize(("words", "message"), USAGE, ids=[" ".join(words) for words, _ in USAGE])
def test_what_makes_no_sense(folder, capsys, words, message):
    emit("model.py:typed", "-o", "good.py")
    start = "# Derived by s2sad"
    (folder / "old.py").write_text(f"{start} from f in model.py: edit that, and derive again.\n")
    for name, said in (("gone", "model.py:lost"), ("odd", "model.py:loss --sideways")):
        text = f"{start}.\n#\n# version: 1\n# command: s2sad emit {said}\n"
        (folder / f"{name}.py").write_text(text)
    assert emit(*words) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "x.py").exists()


def test_one_file_that_makes_no_sense_hides_no_other(folder, capsys):
    emit("model.py:typed", "-o", "good.py")
    emit(*LOSS, "-o", "stale.py")
    edited("stale.py", "return X.T", "return -X.T")
    (folder / "mine.py").write_text("x = 1\n")
    assert emit("--check", "mine.py", "stale.py", "good.py") == 2
    out, err = capsys.readouterr()
    assert "mine.py is not a derived file" in err and "stale.py is not what is derived now" in err
    assert "+    return X.T @ r_bar" in out
    assert emit("--check", "stale.py", "good.py") == 1


def test_what_is_refused_now(folder, capsys):
    emit("model.py:typed", "-o", "typed_grad.py")
    edited("model.py", "return x**n", "yield x**n")
    assert emit("--check", "typed_grad.py") == 1
    assert "generator" in capsys.readouterr().err


def test_without_a_file_it_is_printed(folder, capsys):
    assert emit(*LOSS) == 0
    text = capsys.readouterr().out
    assert "# command: s2sad emit model.py:loss --wrt w --args 'np.ones(3), X, y'\n" in text
    (folder / "loss_grad.py").write_text(text)
    assert emit("--check", "loss_grad.py") == 0


@pytest.mark.parametrize("count", ["60", "88", "120"])
def test_lines_of_other_lengths(folder, count):
    emit(*LOSS, "--mode", "value_and_grad", "-o", "wide.py")
    assert emit(*LOSS, "--mode", "value_and_grad", "-o", "out.py", "--line-length", count) == 0
    text, wide = (folder / "out.py").read_text(), (folder / "wide.py").read_text()
    lines = [line for line in text.splitlines()[1:] if "TypeError" not in line and '"' not in line]
    assert max(map(len, lines)) <= int(count)
    assert f"--line-length {count}" in re.sub(r" \\\n#\s+", " ", text)
    assert emit("--check", "out.py") == 0
    spaces = {}
    for name, said in (("out", text), ("wide", wide)):
        exec(said, spaces.setdefault(name, {}))
    w, X = np.ones(3), np.ones((4, 3))
    one, other = (s["loss_value_and_grad"](w, X, X[:, 0] * 2.0) for s in spaces.values())
    assert one[0] == other[0] and np.array_equal(one[1], other[1])


def test_jit_is_refused(folder, capsys):
    for command in ("show", "emit"):
        assert cli.main([command, *LOSS, "--jit"]) == 1
        assert "--jit is not supported yet" in capsys.readouterr().err
    with pytest.raises(s2sad.UnsupportedError, match="jit"):
        s2sad.source(abs, jit=True)
    with pytest.raises(s2sad.UnsupportedError, match="jit"):
        s2sad.emit(abs, "x.py", jit=True)


# --- pyproject.toml ------------------------------------------------------------------------------


def project(folder, text):
    (folder / "pyproject.toml").write_text(textwrap.dedent(text))


def test_targets_of_a_project(folder, capsys, monkeypatch):
    (folder / "derived").mkdir()
    emit("model.py:typed", "-o", "derived/typed_grad.py")
    project(
        folder,
        f"""
        [tool.s2sad]
        targets = [
            "derived/*.py",
            '''model.py:loss --wrt w --args "{ARGS}" -o loss_grad.py''',
        ]
    """,
    )
    assert emit("--check") == 1
    assert "loss_grad.py does not exist" in capsys.readouterr().err
    assert emit() == 0
    assert emit("--check") == 0
    monkeypatch.chdir(folder / "derived")
    assert emit("--check") == 0
    monkeypatch.chdir(folder)
    edited("model.py", "0.5 * np.sum", "0.25 * np.sum")
    assert emit("--check") == 1
    assert "loss_grad.py" in capsys.readouterr().out
    assert emit() == 0 and emit("--check") == 0


def test_targets_that_are_tables(folder, capsys):
    project(
        folder,
        f"""
        [[tool.s2sad.targets]]
        target = "model.py:loss"
        output = "loss.py"
        mode = "value_and_grad"
        wrt = "w"
        args = "{ARGS}"
        line-length = 88

        [[tool.s2sad.targets]]
        target = "model.py:square"
        args = "-y[0]"
        output = "square.py"
    """,
    )
    assert emit() == 0
    assert capsys.readouterr().out == f"{folder / 'loss.py'}\n{folder / 'square.py'}\n".replace(
        f"{folder}{os.sep}", ""
    )
    assert "--args=-y[0]" in (folder / "square.py").read_text()
    assert emit("--check") == 0
    assert emit("--check", "loss.py", "square.py") == 0
    edited("model.py", "lambda x: x * x", "lambda x: x * x * x")
    assert emit("--check") == 1


WRONG = [
    ("[[tool.s2sad.targets]]\ntarget = 'model.py:loss'\nfile = 'x.py'\n", "not 'file'"),
    ("[[tool.s2sad.targets]]\noutput = 'x.py'\n", "lists no targets"),
    ("[tool.other]\n", "lists no targets"),
    ("[tool.s2sad]\ntargets = []\n", "lists no targets"),
    ("[tool.s2sad]\ntargets = [3]\n", "lists no targets"),
    ("[tool.s2sad]\ntarget = ['x.py']\n", "[tool.s2sad] has no 'target', only targets"),
    ("[tool.s2sad]\ntargets = ['model.py:loss']\n", "names no file: add -o"),
    ("[tool.s2sad]\ntargets = ['none.py']\n", "No such file"),
    ("[tool.s2sad\n", "cannot be read"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_projects_that_make_no_sense(folder, capsys, text, message):
    project(folder, text)
    assert emit("--check") == 2
    assert message in capsys.readouterr().err


def test_the_hook_for_pre_commit():
    root = Path(__file__).resolve().parent.parent
    text = (root / ".pre-commit-hooks.yaml").read_text()
    assert re.search(r"^- id: s2sad-check$", text, flags=re.M)
    assert re.search(r"^  entry: s2sad emit --check$", text, flags=re.M)
    assert re.search(r"^  pass_filenames: false$", text, flags=re.M)
