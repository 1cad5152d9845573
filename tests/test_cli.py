"""The command line: targets, arguments, output, exit codes."""

import re
import subprocess
import sys
import textwrap
import types

import pytest

import s2sad
from s2sad import cli
from s2sad.errors import Place, UnsupportedError

MODEL = """
    import math

    scale = 2.0
    number = 3


    def loss(w, x):
        return scale * math.sin(w) * x


    class Model:
        def loss(self, w):
            return w
"""


@pytest.fixture(autouse=True)
def _clean_imports(monkeypatch, tmp_path):
    """Give each test its own folder, path and modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "cli_model.py"
    path.write_text(textwrap.dedent(MODEL))
    return path


class FakeApi(types.ModuleType):
    """Stands for s2sad.api: notes how it is called."""

    def __init__(self):
        super().__init__("s2sad.api")
        self.calls = []
        self.text = "def f_grad(x):\n    return 2.0 * x\n"
        self.error = None

    def source(self, f, *, mode="grad", wrt=None, args=None):
        self.calls.append((f, mode, wrt, args))
        if self.error is not None:
            raise self.error
        return self.text


@pytest.fixture
def api(monkeypatch):
    import s2sad

    fake = FakeApi()
    monkeypatch.setitem(sys.modules, "s2sad.api", fake)
    monkeypatch.setattr(s2sad, "api", fake, raising=False)
    return fake


# --- show ----------------------------------------------------------------------------------------


def test_show_prints_the_source(api, model, capsys):
    assert cli.main(["show", "cli_model:loss"]) == 0
    assert capsys.readouterr().out == api.text
    ((f, *rest),) = api.calls
    assert f.__qualname__ == "loss"
    assert rest == ["grad", None, None]


def test_show_passes_the_options(api, model):
    options = ["--mode", "vjp", "--wrt", "w", "--args", "scale, 3"]
    assert cli.main(["show", "cli_model.py:loss", *options]) == 0
    assert api.calls[0][1:] == ("vjp", "w", (2.0, 3))


def test_show_ends_with_one_newline(api, model, capsys):
    api.text = "x = 1"
    cli.main(["show", "cli_model:loss"])
    assert capsys.readouterr().out == "x = 1\n"


@pytest.mark.parametrize(
    "target", ["cli_model:loss", "cli_model.py:loss", "./cli_model.py:loss", "cli_model:Model.loss"]
)
def test_targets(model, target):
    function, module = cli.load_target(target)
    assert function.__name__ == "loss"
    assert module.__name__ == "cli_model"
    assert sys.modules["cli_model"] is module


def test_absolute_path(model, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert cli.load_target(f"{model}:loss")[1].__name__ == "cli_model"


def test_file_in_a_package_has_its_own_name(tmp_path):
    package = tmp_path / "cli_pkg" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "cli_pkg" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("def g(x):\n    return x\n")
    (package / "deep.py").write_text("from . import g\n\n\ndef f(x):\n    return g(x)\n")
    assert cli.load_target("cli_pkg/inner/deep.py:f")[1].__name__ == "cli_pkg.inner.deep"
    assert cli.load_target("cli_pkg.inner.deep:f")[0](2.0) == 2.0
    assert cli.load_target("cli_pkg/inner/__init__.py:g")[1].__name__ == "cli_pkg.inner"


def test_file_whose_name_is_taken(tmp_path):
    (tmp_path / "types.py").write_text("def f(x):\n    return x\n")
    function, module = cli.load_target("types.py:f")
    assert function(1.0) == 1.0
    assert module is not types
    assert sys.modules["types"] is types


# --- usage ---------------------------------------------------------------------------------------

BAD = [
    (["cli_model"], "'cli_model' names no function: write pkg.module:function or file.py"),
    (["cli_model:"], "names no function"),
    ([":loss"], "names no function"),
    (["nowhere.py:f"], "there is no file nowhere.py"),
    (["no_such_module:f"], "cannot import no_such_module: No module named 'no_such_module'"),
    (["cli_model:lost"], "cli_model has no 'lost'; did you mean 'loss'?"),
    (["cli_model:Model.zzz"], "cli_model has no 'Model.zzz'"),
    (["cli_model:number"], "'number' in cli_model is of type int, not a function"),
    (["cli_model:loss", "--args", "1.0 +"], "--args '1.0 +' is not a Python expression"),
    (["cli_model:loss", "--args", "1.0) + (2"], "is not a list of arguments"),
    (["cli_model:loss", "--args", "x=1.0"], "arguments are given by position, not by name"),
    (["cli_model:loss", "--args", "zzz"], "fails with NameError: name 'zzz' is not defined"),
    (["cli_model:loss", "--args", "1/0"], "fails with ZeroDivisionError: division by zero"),
    (["cli_model:loss", "--args", "exit(3)"], "fails with SystemExit: 3"),
    (["cli_model:loss", "--args", "(yield)"], "fails with SyntaxError: 'yield' outside function"),
    (["cli_model:loss", "--args", "1.0, 2.0, 3.0, 4.0, 5.0"], "does not fit: too many positional"),
    (["cli_model:loss", "--wrt", "w,,x"], "--wrt 'w,,x' has an empty name"),
    (["cli_model.py:Model"], "Model is a class; name a method: cli_model.py:Model.loss"),
    (["t.ipynb:loss"], "t.ipynb is a notebook, which cannot be imported: keep loss in a module"),
    (
        ["cli_model:loss", "--wrt", "z"],
        "--wrt 'z' names no parameter of loss. The parameters of loss are w, x.",
    ),
    (["cli_model:loss", "--wrt", "5"], "--wrt 5 names no parameter"),
    (["cli_model:loss", "--line-length", "9"], "'9' is not a number of columns from 40"),
    (["cli_model:loss", "--mode", "sideways"], "invalid choice: 'sideways'"),
    ([], "the following arguments are required: TARGET"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_usage_errors(api, model, capsys, arguments, message):
    assert cli.main(["show", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert api.calls == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero (cli_raising.py, line 4)"),
        ("raise Own('so')", "Own: so (cli_raising.py, line 4)"),
        ("raise SystemExit(0)", "SystemExit: 0 (cli_raising.py, line 4)"),
        ("import no_such_module", "No module named 'no_such_module'"),
    ],
)
def test_module_that_raises(api, tmp_path, capsys, text, why):
    path = tmp_path / "cli_raising.py"
    path.write_text(f"class Own(Exception):\n    pass\n\n{text}\n")
    sys.modules.pop("cli_raising", None)
    assert cli.main(["show", f"{path}:f"]) == 2
    assert capsys.readouterr().err == f"s2sad: cannot import {path}: {why}\n"


def test_what_a_function_raises_of_its_own(tmp_path, capsys):
    path = tmp_path / "cli_own.py"
    path.write_text(
        "class Own(Exception):\n    pass\n\n\ndef f(x):\n    if x > 0:\n        raise Own(x)\n"
        "    return x\n\n\ndef stops(x):\n    exit(4)\n    return x\n"
    )
    assert cli.main(["check", f"{path}:f", "--args", "2.0"]) == 2
    assert "fails at --args with Own: 2.0 (cli_own.py, line 7)" in capsys.readouterr().err
    assert cli.main(["check", f"{path}:stops", "--args", "2.0"]) == 2
    assert "SystemExit: 4" in capsys.readouterr().err
    assert cli.main(["explain", f"{path}:f", "--args", "2.0"]) == 0
    assert "f raises Own: 2.0" in capsys.readouterr().out
    assert cli.main(["show", f"{path}:f", "--args", "f(2.0)"]) == 2
    assert "fails with Own: 2.0 (cli_own.py, line 7)" in capsys.readouterr().err


def test_a_decorated_method_of_an_object(tmp_path, capsys):
    path = tmp_path / "cli_bound.py"
    path.write_text(
        "from s2sad import differentiate\n\n\nclass Model:\n    @differentiate\n"
        "    def loss(self, w):\n        return w * w\n\n\nmodel = Model()\n"
    )
    assert cli.main(["check", f"{path}:model.loss", "--args", "2.0"]) == 0
    assert cli.main(["show", f"{path}:model.loss", "--args", "2.0, 3.0"]) == 2
    assert "too many positional arguments" in capsys.readouterr().err


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"s2sad {s2sad.__version__}\n"


def test_module_with_a_syntax_error(api, tmp_path, capsys):
    (tmp_path / "cli_broken.py").write_text("def f(:\n")
    assert cli.main(["show", "cli_broken.py:f"]) == 2
    assert "cannot import" in capsys.readouterr().err


def test_no_command(capsys):
    assert cli.main([]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("usage: s2sad") and captured.err == ""
    cli.main(["--help"])
    assert capsys.readouterr().out == captured.out


def test_help_teaches(capsys):
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert 's2sad show    model.py:loss --wrt w --args "np.ones(3), X, y"' in text
    assert "exit codes" in text


# --- --args and --wrt ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", ()),
        ("1.0", (1.0,)),
        ("1.0, 2", (1.0, 2)),
        ("1.0,", (1.0,)),
        ("(1.0, 2.0)", ((1.0, 2.0),)),
        ("[1.0], {'a': 2.0}", ([1.0], {"a": 2.0})),
        ("*range(3), 'x,y'", (0, 1, 2, "x,y")),
        ("here * 2", (6.0,)),
        ("sum(here for _ in range(2))", (6.0,)),
        ("1.0  # one", (1.0,)),
    ],
)
def test_evaluate_args(expression, expected):
    module = types.ModuleType("m")
    module.here = 3.0
    assert cli.evaluate_args(expression, module) == expected


def test_args_know_numpy_but_the_module_first():
    module = types.ModuleType("m")
    assert cli.evaluate_args("np.ones(3)", module)[0].tolist() == [1, 1, 1]
    assert not hasattr(module, "np")
    module.np = types.SimpleNamespace(ones=lambda n: "own")
    assert cli.evaluate_args("np.ones(3)", module) == ("own",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("w", "w"),
        ("0", 0),
        ("w,b", ("w", "b")),
        ("w, 1", ("w", 1)),
        ("w,", ("w",)),
    ],
)
def test_parse_wrt(text, expected):
    assert cli.parse_wrt(text) == expected


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show", "check", "explain", "view", "emit"])
def test_every_command_names_targets_and_parameters_alike(model, tmp_path, capsys, command):
    more = ["-o", "out.html"] if command in ("view", "emit") else []
    for target, options in (
        ("cli_model.py:Model", []),
        ("cli_model.ipynb:loss", []),
        ("cli_model.py:lost", []),
        ("cli_model.py:loss", ["--wrt", "z"]),
        ("cli_model.py:loss", ["--wrt", "w,z"]),
    ):
        words = [command, target, "--args", "1.0, 2.0", *options, *more]
        assert cli.main(words) == 2, words
        assert not (tmp_path / "out.html").exists()
    for target in ("cli_model.py:loss", "cli_model:loss", "cli_model.py:Model.loss"):
        args = "Model(), 2.0" if "Model" in target else "1.0, 2.0"
        wrt = ["--wrt", "w"]
        assert cli.main([command, target, "--args", args, *wrt, *more]) == 0
        (tmp_path / "out.html").unlink(missing_ok=True)
    capsys.readouterr()


def test_refusal_goes_to_stderr(api, model, capsys):
    place = Place("model.py", 12, 4, 9, "    yield x", "f")
    api.error = UnsupportedError("no generators", remedy="Use a list.", place=place)
    assert cli.main(["show", "cli_model:loss"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"UnsupportedError: {api.error}\n"
    assert 'File "model.py", line 12, in f' in captured.err


# --- colour --------------------------------------------------------------------------------------


def _plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _hide(monkeypatch, *names):
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def _show_on_terminal(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert cli.main(["show", "cli_model:loss"]) == 0
    return capsys.readouterr().out


def test_terminal_gets_colour_from_pygments(api, model, monkeypatch, capsys):
    pytest.importorskip("pygments")
    out = _show_on_terminal(monkeypatch, capsys)
    assert "\x1b[" in out
    assert _plain(out) == api.text


def test_terminal_gets_colour_from_rich(api, model, monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(cli, "_with_pygments", lambda text: __import__("no_such_module"))
    out = _show_on_terminal(monkeypatch, capsys)
    assert _plain(out).split() == api.text.split()


def test_terminal_without_either_gets_plain_text(api, model, monkeypatch, capsys):
    _hide(monkeypatch, "pygments", "rich", "rich.console", "rich.syntax")
    assert _show_on_terminal(monkeypatch, capsys) == api.text


def test_no_color_is_respected(api, model, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli.main(["show", "cli_model:loss"]) == 0
    assert capsys.readouterr().out == api.text


# --- the real thing ------------------------------------------------------------------------------


def _run(*arguments):
    command = [sys.executable, "-m", "s2sad", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


WRONG = """
    import math

    import s2sad


    def half(x):
        return math.sin(x)


    @s2sad.elementwise(half)
    def half_partials(out, x):
        return 0.5 * math.cos(x)


    def right(x, n):
        for _ in range(n):
            x = x * math.sin(x)
        return x


    def wrong(x):
        return half(x) * x
"""


@pytest.fixture
def others(tmp_path):
    (tmp_path / "cli_others.py").write_text(textwrap.dedent(WRONG))


def test_check_of_a_right_derivative(others, capsys):
    assert cli.main(["check", "cli_others.py:right", "--args", "0.7, 2"]) == 0
    out = capsys.readouterr().out
    assert out == "cli_others.py:right: forward and reverse agree with differences, order 2\n"


def test_check_of_a_wrong_derivative(others, capsys):
    options = ["--args", "0.7", "--order", "1", "--modes", "reverse"]
    assert cli.main(["check", "cli_others.py:wrong", *options]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "x" in captured.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the following arguments are required: --args"),
        (["--args", "0.7, 2", "--modes", "sideways"], "the modes are forward and reverse"),
        (["--args", "0.7, 2", "--order", "0"], "--order must be 1 or more"),
        (["--args", "float('inf'), 2"], "fails at --args with ValueError"),
    ],
)
def test_check_wants_sense(others, capsys, options, message):
    assert cli.main(["check", "cli_others.py:right", *options]) == 2
    assert message in capsys.readouterr().err


def test_explain(others, capsys):
    assert cli.main(["explain", "cli_others.py:right", "--args", "0.7, 2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("right (cli_others.py:") and "\x1b" not in out
    assert "kept for the backward sweep in all: 32 bytes" in out


def test_explain_on_a_terminal(others, capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert cli.main(["explain", "cli_others.py:right", "--args", "0.7, 2"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[1mx\x1b[0m: a float" in out
    assert _plain(out).startswith("right (cli_others.py:")


@pytest.mark.parametrize("command", ["show", "emit", "check", "explain"])
def test_each_command_teaches(command, capsys):
    assert cli.main([command, "--help"]) == 0
    assert f"s2sad {command} model.py:loss" in capsys.readouterr().out


def test_module_can_be_run_as_a_program(model):
    assert _run("--help").returncode == 0
    assert _run("show", "nowhere.py:f").returncode == 2
