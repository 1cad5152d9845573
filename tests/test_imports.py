"""What is loaded when: little by `import s2sad`, what a first gradient needs by that."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import s2sad

ROOT = Path(__file__).resolve().parent.parent
NOT_BY_IMPORT = (
    *("s2sad.pipeline", "s2sad.steps", "s2sad.facts", "s2sad.linear", "s2sad.write"),
    *("s2sad.rules", "s2sad.tools", "s2sad.sparse", "s2sad.testing", "s2sad.control", "s2sad.cli"),
    *("astor", "scipy", "importlib.metadata", "difflib", "unittest"),
)
NOT_BY_GRADIENT = (
    *("s2sad.tools", "s2sad.sparse", "s2sad.testing", "s2sad.control", "s2sad.cli"),
    *("s2sad.linear.pullback_entry", "s2sad.linear.inner_pullbacks", "s2sad.linear.shadow_entry"),
    *("s2sad.linear.callers_memory", "s2sad.linear.reverse_pairs"),
    *("s2sad.operators.emitting", "s2sad.operators.reports"),
    *("s2sad.operators.nans", "s2sad.write.standalone", "scipy"),
    *("s2sad.rules.fft", "s2sad.rules.polynomial_series", "s2sad.rules.refusals_masked"),
    *("numpy.fft", "numpy.polynomial", "numpy.ma"),
)
AT_MOST = 64


def printed_by(tmp_path, text):
    """Run a program in a process of its own, and return what it prints."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text), encoding="utf-8")
    command = [sys.executable, str(program)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def within(name, packages):
    return any(name == p or name.startswith(f"{p}.") for p in packages)


def test_import_loads_what_binds_and_looks_up_and_no_more(tmp_path):
    text = """
        import sys
        import numpy
        before = set(sys.modules)
        import s2sad
        print("\\n".join(set(sys.modules) - before))
        """
    loaded = printed_by(tmp_path, text).split()
    assert not [m for m in loaded if within(m, NOT_BY_IMPORT)]
    assert len([m for m in loaded if within(m, ["s2sad"])]) <= AT_MOST


GRADIENT = """
    import sys
    import numpy as np
    before = set(sys.modules)
    import s2sad
    def f(x):
        return np.sum(np.sin(x) * x)
    s2sad.grad(f)(np.ones(3))
    """


def test_a_first_gradient_loads_no_other_mode_and_no_rules_of_other_modules(tmp_path):
    text = textwrap.dedent(GRADIENT) + 'print("\\n".join(set(sys.modules) - before))\n'
    loaded = printed_by(tmp_path, text).split()
    assert "s2sad.pipeline" in loaded
    assert not [m for m in loaded if within(m, NOT_BY_GRADIENT)]


def test_rules_of_a_module_are_there_as_soon_as_it_is(tmp_path):
    text = """
        import numpy as np
        import s2sad
        def f(x):
            return np.sum(x**2)
        s2sad.grad(f)(np.ones(4))
        def g(x):
            return np.sum(np.abs(np.fft.fft(x)) ** 2) + np.polynomial.chebyshev.chebval(0.3, x)
        print(s2sad.grad(g)(np.ones(4)).shape)
        from scipy import special
        print(s2sad.grad(lambda x: special.erf(x))(0.0) > 1.1)
        """
    assert printed_by(tmp_path, text).split("\n")[:2] == ["(4,)", "True"]


@pytest.mark.parametrize("name", [*s2sad.__all__, "control", "sparse", "testing"])
def test_every_name_is_there(name):
    assert getattr(s2sad, name) is not None
    assert name in dir(s2sad)


def test_every_name_is_there_in_a_new_process(tmp_path):
    text = """
        import pickle
        import s2sad
        from s2sad import check_grads, explain, sparse, testing, to_jax, to_torch
        for name in dir(s2sad):
            getattr(s2sad, name)
        assert pickle.loads(pickle.dumps(s2sad.check_grads)) is check_grads
        assert s2sad.sparse is sparse and s2sad.testing is testing
        try:
            s2sad.no_such_name
        except AttributeError as error:
            print(error)
        exec("from s2sad import *")
        assert explain is s2sad.explain
        """
    assert "no_such_name" in printed_by(tmp_path, text)


THREADS = """
    import sys
    import threading
    import numpy as np
    import s2sad
    from scipy import special

    sys.setswitchinterval(1e-6)

    def f(x):
        return np.sum(np.sin(x) * x) + np.sum(special.erf(x))

    def g(x):
        return np.sum(np.abs(np.fft.fft(x)) ** 2)

    def h(x):
        return np.polynomial.chebyshev.chebval(0.3, x)

    x, found, start = np.ones(4), [], threading.Barrier(6)

    def run(fn, how):
        start.wait()
        try:
            found.append(how(fn))
        except BaseException as error:
            found.append(error)

    def grad(fn):
        return s2sad.grad(fn)(x)

    def jvp(fn):
        return s2sad.jvp(fn, (x,), (x,))[1]

    threads = [threading.Thread(target=run, args=a) for a in
               [(f, grad), (g, grad), (h, grad), (f, jvp), (g, jvp), (h, jvp)]]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    print(len([v for v in found if not isinstance(v, BaseException)]), found)
    """


@pytest.mark.parametrize("time", range(2))
def test_threads_may_derive_first_at_once(tmp_path, time):
    told = printed_by(tmp_path, THREADS)
    assert told.startswith("6 "), told
