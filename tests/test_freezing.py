"""The runner of frozen behaviour writes the same twice, and its comparison sees what changed."""

import copy
import json

import frozen
import frozen_programs
import numpy as np
import pytest
from frozen_records import direction, moved, plain, record
from frozen_text import derived_lines, lines_of

NAMES = ("small.views_order1", "small.language_dictmerge", "small.held_getloop")
MODE = "value_and_grad"


@pytest.fixture
def few(monkeypatch):
    """Let the runner know three programs only."""
    found = [h for h in frozen_programs.of_small() if h.name in NAMES]
    monkeypatch.setattr(frozen, "held", lambda _: found)


@pytest.fixture
def run():
    """Return a run of two programs, as it is written."""
    mode = {
        "outcome": "right",
        "message": "",
        "shape": "tuple(float, float)",
        "value": ["1.5"],
        "derivative": ["2.0", "1e-17"],
        "along": "2.0",
        "lines": [10, 4],
        "times": [0.5, 100.0],
    }
    one = {"plain": "", "lines": 5, "value": ["1.5"], "slope": "2.0", "modes": {MODE: mode}}
    refused = copy.deepcopy(one)
    refused["modes"][MODE].update(outcome="refused", message="UnsupportedError: why")
    head = {"commit": "abc", "python": "3", "numpy": "2", "asked": ["", "1/1", False, False]}
    return {"head": head, "heads": [head], "programs": {"a": one, "b": refused}}


def changed(run, name, mode=MODE, **values):
    after = copy.deepcopy(run)
    after["programs"][name]["modes"][mode].update(values)
    return after


def untimed(run):
    """Return what a run says of programs, without times."""
    programs = copy.deepcopy(run["programs"])
    for p in programs.values():
        for mode in p["modes"].values():
            mode["times"] = None
    return programs


def test_what_is_written_is_the_same_twice(few, tmp_path):
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for file in files:
        assert frozen.main(["--write", str(file), "--quiet"]) == 0
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    assert set(one["programs"]) == set(NAMES)
    assert untimed(one) == untimed(two)
    assert frozen.main(["--compare", *map(str, files)]) == 0
    mode = one["programs"][NAMES[0]]["modes"][MODE]
    assert mode["outcome"] == "right" and mode["lines"][0] > 3 and mode["times"][0] > 0.0


def test_parts_are_the_whole(few, tmp_path):
    files = [str(tmp_path / f"{k}.json") for k in (1, 2)]
    for k, file in enumerate(files, 1):
        frozen.main(["--write", file, "--quiet", "--part", f"{k}/2"])
    assert set(frozen.loaded(",".join(files))["programs"]) == set(NAMES)


def test_the_same_is_no_change(run):
    text, worse = frozen.report(run, run)
    assert not worse and text.startswith("Nothing got worse.")
    assert len(text.splitlines()) <= 20


@pytest.mark.parametrize("word", ["refused", "dead"])
def test_a_worse_outcome(run, word):
    text, worse = frozen.report(run, changed(run, "a", outcome=word, message="TypeError: no"))
    assert worse and f"a [{MODE}]: right -> {word} (TypeError: no)" in text


def test_a_refusal_that_became_right(run):
    text, worse = frozen.report(run, changed(run, "b", outcome="right", message=""))
    assert not worse and "outcomes that got better: 1" in text


def test_another_message(run):
    text, worse = frozen.report(run, changed(run, "b", message="UnsupportedError: other"))
    assert not worse and "refusals with another message: 1" in text


@pytest.mark.parametrize(
    "number, worse", [("2.0000000000000004", False), ("2.00000001", True), ("nan", True)]
)
def test_a_changed_number(run, number, worse):
    text, got = frozen.report(run, changed(run, "a", derivative=[number, "1e-17"]))
    assert got == worse
    assert f"numbers that changed: {int(worse)}" in text
    assert f"numbers that changed in their last bits: {int(not worse)}" in text


def test_a_result_that_is_built_otherwise(run):
    text, worse = frozen.report(run, changed(run, "a", shape="tuple(float, list(float))"))
    assert worse and "is built otherwise" in text


def test_a_number_that_agrees_with_differences_only_now(run):
    wrong = changed(run, "a", derivative=["1.0", "0.0"], along="1.0")
    right = changed(run, "a", derivative=["2.0", "0.0"], along="2.0")
    text, worse = frozen.report(wrong, right)
    assert not worse and "agree with differences only now: 1" in text
    text, worse = frozen.report(right, wrong)
    assert worse and "it agreed, now it does not" in text


def test_a_longer_text_and_a_slower_one(run):
    text, worse = frozen.report(run, changed(run, "a", lines=[14, 4], times=[2.0, 400.0]))
    assert not worse
    assert "texts, own lines: 10 -> 14; 1 are longer (by 4), 0 shorter (by 0)" in text
    assert f"a [{MODE}]: 10 -> 14" in text
    assert f"a [{MODE}]: 0.5 -> 2 s (4.00)" in text and "400 us (4.00)" in text


def test_a_program_that_is_gone(run):
    after = copy.deepcopy(run)
    del after["programs"]["b"]
    assert frozen.report(run, after)[1]
    after["heads"][0]["asked"][0] = "a"
    assert not frozen.report(run, after)[1]


def test_a_program_that_dies_is_recorded():
    def broken():
        raise ZeroDivisionError("none")

    assert record(frozen_programs.Held("broken", broken)) == {
        "plain": "ZeroDivisionError: none",
        "modes": {},
    }


def test_messages_have_no_places():
    assert plain("no, see line 12 of /tmp/a/b.py, <small_3>") == "no, see line N of ...b.py, ..."


def test_tangents_are_built_like_what_they_belong_to():
    shared = np.ones(2)
    tangent = direction({"a": [shared, shared], "n": 3, "t": (1.0, "word")}, 0.4)
    assert tangent["a"][0] is tangent["a"][1] and tangent["n"] is None
    assert tangent["t"][1] is None and isinstance(tangent["t"][0], float)
    assert moved(np.arange(3), np.sin) is None


def test_lines_are_counted_without_comments_and_docstrings():
    text = 'import numpy\n\n\ndef unbroadcast(x):\n    """Why."""\n    return x\n\n\n'
    text += "def f_grad(x):\n    # here\n    y = unbroadcast(x)\n    return y\n"
    assert lines_of(text) == 6
    assert derived_lines(text) == (3, 2)


def test_there_is_enough_to_freeze():
    assert len(frozen_programs.FAMILIES) >= 12
    assert len(list(frozen_programs.of_calls())) > 900
