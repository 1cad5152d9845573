"""Derivatives and reports as a notebook shows them, and what completion offers.

g = s2sad.grad(f); g(x)
g                               the source of what was derived last, highlighted
s2sad.explain(f, args=(x,))     the page that `s2sad view` writes
"""

from __future__ import annotations

import html
import importlib
import linecache
from collections.abc import Iterator
from typing import Any

from s2sad.errors import Error
from s2sad.operators.derived import Derived

_STYLE = "width: 100%; height: 36em; border: 1px solid #8884"


class Shown:
    """What all operators are to somebody who looks at them."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        found: list[str] = [*object.__dir__(self)]
        return [n for n in found if not n.startswith("_") or _is_pythons(n)]

    def _repr_html_(self) -> str:
        """Return the operator for a notebook: its name, and the source that it has derived."""
        text = next(_texts(self), "") or _by_annotations(self)
        hint = "Nothing is derived yet: call it, or print(g.source(*example_args))."
        shown = highlighted(text) if text else f"<p>{html.escape(hint)}</p>"
        return f"<p><code>{html.escape(repr(self))}</code></p>{shown}"


def _is_pythons(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and not name.startswith("__s2sad")


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts that an operator, or those that it stands on, have derived."""
    if isinstance(value, Derived):
        for entries in reversed([*value.entries.values()]):
            for entry in entries:
                code = getattr(entry.bound.call, "__code__", None)
                yield "".join(linecache.getlines(code.co_filename)) if code else ""
    elif isinstance(value, Shown):
        held = [v for n, v in vars(value).items() if n != "_f"]
        for part in sorted(held, key=lambda v: not isinstance(v, Derived)):
            yield from _texts(part)
    elif isinstance(value, dict | tuple):
        parts = value if isinstance(value, tuple) else reversed([*value.values()])
        for part in parts:
            yield from _texts(part)


def _by_annotations(operator: Any) -> str:
    try:
        return str(operator.source())
    except (Error, TypeError):
        return ""


def highlighted(text: str) -> str:
    """Return Python source as HTML: in colours where pygments is installed."""
    try:
        pygments = importlib.import_module("pygments")
        lexer = importlib.import_module("pygments.lexers").PythonLexer()
        formatters = importlib.import_module("pygments.formatters")
    except ImportError:
        return f"<pre>{html.escape(text)}</pre>"
    formatter = formatters.HtmlFormatter(noclasses=True, nobackground=True)
    return str(pygments.highlight(text, lexer, formatter))


def framed(page: str) -> str:
    """Return a whole page as a frame in another one."""
    return f'<iframe srcdoc="{html.escape(page)}" style="{_STYLE}"></iframe>'
