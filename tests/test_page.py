"""`s2sad view`: the page, what it says of lines, and how it behaves in a browser."""

import ast
import html
import html.parser
import importlib.util
import inspect
import linecache
import re
import shutil

import numpy as np
import pytest
import test_golden

from s2sad import api, cli
from s2sad.operators.higher import derive
from s2sad.tools import page
from s2sad.write.copies import prelude
from s2sad.write.lines import origins_by_line
from s2sad.write.printer import module


def cell(h, x, W):
    a = W @ h + x
    return np.tanh(a)


def rnn(W, xs, h):
    n = len(xs)
    for t in range(n):
        if xs[t, 0] > 0.0:
            h = cell(h, xs[t], W)
        else:
            h = h * np.sin(
                h  # over several lines
            )
    # compared as in "<b>&amp;"
    s = "<b>&amp;</b>" if n < 1 else ""
    return np.sum(h * h) + len(s)


RNN = np.eye(3), np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]]), np.full(3, 0.5)


def here(f, line):
    return f.__code__.co_firstlineno + line


class Lines(html.parser.HTMLParser):
    """The lines of a page: by id the attributes and the text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.tags, self.line, self.depth = {}, [], None, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        attrs = dict(attrs)
        if tag == "div" and attrs.get("class") == "line":
            self.line = self.found[attrs["id"]] = {**attrs, "code": "", "why": [], "saved": ""}
        if tag in ("code", "i", "b"):
            self.depth = {"code": 1, "i": 2, "b": 3}[tag]
            if tag == "i" and self.line:
                self.line["why"].append("")

    def handle_endtag(self, tag):
        if tag in ("code", "i", "b"):
            self.depth = 0

    def handle_data(self, data):
        if self.line is None:
            return
        if self.depth == 1:
            self.line["code"] += data
        elif self.depth == 2:
            self.line["why"][-1] += data
        elif self.depth == 3:
            self.line["saved"] += data


@pytest.fixture(scope="module")
def text():
    return page.page_of(api.operator_for(rnn, "grad", None, RNN), RNN)


@pytest.fixture(scope="module")
def lines(text):
    return Lines(text).found


def one(lines, code, side):
    (found,) = [k for k, v in lines.items() if v["code"].strip() == code and k[0] == side]
    return found


def test_the_page_is_whole_and_needs_nothing(text):
    tags = Lines(text).tags
    assert text.startswith("<!DOCTYPE html>") and "<!--" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not [t for t, a in tags if t in ("link", "img", "iframe") or "src" in a]
    assert "default-src 'none'" in text


def test_the_program_and_its_derivative_are_there(text, lines):
    d = derive(api.operator_for(rnn, "grad", None, RNN)._asked(RNN, {})[0])
    derived = module(prelude(d.refs, d.functions)).splitlines()
    for key, line in lines.items():
        if key[0] == "d":
            assert line["code"] == (derived[int(key[1:]) - 1] or " ")
        else:
            assert line["code"].rstrip() == linecache.getline(__file__, int(key[3:])).rstrip()
    shown = {int(k[1:]) for k in lines if k[0] == "d"}
    written = {n for n, t in enumerate(derived, 1) if t.strip() and "import" not in t}
    assert written <= shown
    assert html.escape('"<b>&amp;</b>"') in text.replace("&#x27;", "'")


def test_a_statement_leads_to_both_sweeps(lines):
    at = one(lines, "h = h * np.sin(", "u")
    became = {v["code"].strip(): v["data-sweep"] for v in lines.values() if at in came_from(v)}
    assert became["h_0 = h * sin_h"] == "forward" and became["sin_h = np.sin(h)"] == "forward"
    assert became["# h = h * np.sin(h)"] == "backward"
    assert became["h_bar_1 += h_bar * h * np.cos(h)"] == "backward"
    assert not [c for c in became if "cell(" in c or "cell_reverse" in c]
    assert lines[f"u0-{here(rnn, 7)}"]["data-with"] == at


def came_from(line):
    return line.get("data-from", "").split()


def test_called_functions_lead_there_too(lines):
    at = one(lines, "return np.tanh(a)", "u")
    became = {v["code"].strip(): v["data-sweep"] for v in lines.values() if at in came_from(v)}
    assert became["value = np.tanh(a)"] == "forward"
    assert became["a_bar = value_bar * (1.0 - value * value)"] == "backward"


def test_what_is_saved_is_marked_with_why(lines):
    line = lines[one(lines, "h = cell(h, xs[t], W)", "u")]
    assert line["saved"] == "saved h"
    first, other = here(rnn, 4), here(rnn, 6)
    why = (
        f"the backward sweep reads it for line {other}, and line {first} or line {other} overwrites"
    )
    assert any(why in w for w in line["why"])
    (pushed,) = [v for v in lines.values() if v["code"].strip().startswith("saved.append(")]
    assert pushed["saved"] == "saved cell_saved, sin_h, h" and len(pushed["why"]) == 3


def test_active_names_are_marked(text):
    assert '<span class="act">h</span> = cell(<span class="act">h</span>, xs[t]' in text
    assert '<span class="bar">h_bar</span>' in text


def test_tangents(tmp_path):
    path = page.view(rnn, tmp_path / "p.html", mode="jvp", args=RNN)
    lines = Lines(path.read_text()).found
    sweeps = {v.get("data-sweep") for k, v in lines.items() if k[0] == "d"}
    assert "tangent" in sweeps and "backward" not in sweeps


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "viewed_model.py").write_text("def f(x: float):\n    return x * x\n")
    assert cli.main(["view", "viewed_model.py:f", "-o", "p.html"]) == 0
    assert capsys.readouterr().out == "p.html\n"
    assert "def f(" in re.sub("<.*?>", "", (tmp_path / "p.html").read_text())
    assert cli.main(["view", "viewed_model.py:f", "-o", "none/p.html"]) == 2
    assert "cannot write none/p.html" in capsys.readouterr().err
    assert cli.main(["view", "--help"]) == 0
    assert "s2sad view model.py:loss" in capsys.readouterr().out


# --- the map, on many programs -------------------------------------------------------------------

GOLDEN = test_golden.pairs()


def plain(code):
    """Return a statement in one spelling, of a compound one the header."""
    code = code.strip()
    try:
        return ast.unparse(ast.parse(f"{code}\n    pass" if code.endswith(":") else code))
    except SyntaxError:
        return code


@pytest.mark.parametrize("name", GOLDEN)
def test_lines_lead_to_where_their_text_stands(name):
    p = GOLDEN[name]
    operator = api.operator_for(p.f, "grad" if p.mode == "vjp" else p.mode, p.operator_wrt, p.args)
    d = derive(operator._asked(p.args, {})[0])
    body = prelude(d.refs, d.functions)
    text = module(body)
    written = text.splitlines()
    source = [plain(line) for line in inspect.getsource(p.f).splitlines()]
    for number, origin in origins_by_line(body, text, page.roles_of(d)).items():
        code = written[number - 1].strip()
        theirs = {plain(linecache.getline(*spot)) for spot in origin.spots}
        assert origin.spots
        if code.endswith(("else:", "try:")) or code.startswith(("except", "continue")):
            continue
        once = source.count(plain(code)) == 1 and written.count(written[number - 1]) == 1
        if origin.sweep == "forward" and once:
            assert plain(code) in theirs
        if code.startswith("# ") and plain(code[2:]) in source:
            assert plain(code[2:]) in theirs


# --- in a browser --------------------------------------------------------------------------------

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --window-size=1300,800"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory, text):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("there is no chromium with its driver on this machine")
    if importlib.util.find_spec("selenium") is None:
        pytest.skip("selenium is not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    folder = tmp_path_factory.mktemp("browser")
    for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    (folder / "page.html").write_text(text, encoding="utf-8")
    made.get((folder / "page.html").as_uri())
    yield made
    made.quit()


@pytest.fixture
def fresh(browser):
    browser.refresh()
    return browser


def lit(browser):
    """Return by class the text of the lines that are lit."""
    script = """
        const found = {};
        for (const name of ["here", "forward", "backward", "tangent"])
          found[name] = [...document.querySelectorAll(".line." + name + " code")]
            .map((c) => c.textContent.trim());
        return found;"""
    return browser.execute_script(script)


def point(browser, key):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).move_to_element(browser.find_element("id", key)).perform()


def press(browser, *keys):
    from selenium.webdriver.common.keys import Keys

    active = browser.switch_to.active_element
    for key in keys:
        active.send_keys(getattr(Keys, key))
        active = browser.switch_to.active_element


def footer(browser):
    return browser.find_element("tag name", "footer").text


in_browser = pytest.mark.browser


@in_browser
def test_pointing_lights_up_both_sweeps(fresh, lines):
    assert lit(fresh) == {"here": [], "forward": [], "backward": [], "tangent": []}
    point(fresh, one(lines, "h = cell(h, xs[t], W)", "u"))
    found = lit(fresh)
    assert found["here"] == ["h = cell(h, xs[t], W)"]
    assert "h_0, cell_saved = cell_forward(h, xs[t], W)" in found["forward"]
    assert "# h = cell(h, xs[t], W)" in found["backward"]
    assert "h is saved" in footer(fresh) and "backward sweep" in footer(fresh)
    assert len(fresh.find_elements("css selector", "svg path")) == sum(
        len(found[n]) for n in ("forward", "backward")
    )


@in_browser
def test_pointing_at_the_derivative_lights_up_the_program(fresh, lines):
    point(fresh, one(lines, "h_0, cell_saved = cell_forward(h, xs[t], W)", "d"))
    found = lit(fresh)
    assert "h = cell(h, xs[t], W)" in found["here"] and found["backward"]
    assert f"It comes from line {here(rnn, 4)}." in footer(fresh)


@in_browser
def test_statements_over_several_lines(fresh, lines):
    point(fresh, f"u0-{here(rnn, 7)}")
    assert "h = h * np.sin(" in lit(fresh)["here"]
    assert "# h = h * np.sin(h)" in lit(fresh)["backward"]


@in_browser
def test_the_keyboard_is_enough(fresh, lines):
    press(fresh, "TAB")
    assert fresh.switch_to.active_element.text.startswith(str(here(rnn, 0)))
    press(fresh, *["ARROW_DOWN"] * 4)
    assert lit(fresh)["here"] == ["h = cell(h, xs[t], W)"]
    press(fresh, "ARROW_RIGHT")
    assert fresh.switch_to.active_element.get_attribute("data-sweep") == "forward"
    assert "h = cell(h, xs[t], W)" in lit(fresh)["here"]
    press(fresh, "ARROW_LEFT")
    assert fresh.switch_to.active_element.get_attribute("id")[0] == "u"
    press(fresh, "ESCAPE")
    assert lit(fresh)["here"] == [] and "arrow keys" in footer(fresh)


@in_browser
def test_a_click_holds(fresh, lines):
    fresh.find_element("id", one(lines, "h = cell(h, xs[t], W)", "u")).click()
    point(fresh, one(lines, "n = len(xs)", "u"))
    assert lit(fresh)["here"] == ["h = cell(h, xs[t], W)"]


@in_browser
def test_nothing_is_asked_of_a_network_and_nothing_fails(fresh):
    assert fresh.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert [entry for entry in fresh.get_log("browser") if "favicon" not in entry["message"]] == []


def luminance(colour):
    parts = [int(p) / 255 for p in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear))


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read(fresh, lines, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    fresh.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    paper = fresh.execute_script(
        "return getComputedStyle(document.querySelector('.pane')).backgroundColor"
    )
    assert (luminance(paper) < 0.2) == (scheme == "dark")
    for name in ("code", ".act", ".bar", ".k", ".c"):
        colour = fresh.execute_script(
            "return getComputedStyle(document.querySelector(arguments[0])).color", f".line {name}"
        )
        light, dark = sorted((luminance(paper), luminance(colour)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4.5, name


def test_annotated_functions_need_no_arguments(tmp_path):
    def square(x: float):
        return x * x

    lines = Lines(page.view(square, tmp_path / "p.html").read_text()).found
    assert "return 2.0 * x" in {v["code"].strip() for v in lines.values()}
