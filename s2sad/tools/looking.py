"""Looking into a derivation: `explain` says which variables are active and saved, and why.

print(explain(f, args=(x, 3)))          as text
explain(f, args=(x, 3))["h"].saves      as data
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from s2sad import kinds as K
from s2sad.activities import Activity
from s2sad.api import Operator, operator_for
from s2sad.derivative import derivative_of
from s2sad.errors import ActivityError
from s2sad.known.mixed import has_gradient
from s2sad.operators.door import door
from s2sad.operators.duplicated import Given
from s2sad.operators.higher import HIGHER, derive
from s2sad.operators.metering import metered
from s2sad.operators.parameters import Settled, Wrt
from s2sad.operators.reports import Report, report_of, with_sizes
from s2sad.operators.shown import framed
from s2sad.requests import Request
from s2sad.steps.derivation import Derivation, analyse
from s2sad.tools.raised import Caught
from s2sad.tree import tree_map


@door
def explain(f: Callable[..., Any], *, wrt: Wrt = None, args: Any = None) -> Report:
    """Return a report on the variables of f: which are active, which are saved, and why.

    >>> def f(x, y):
    ...     z = np.exp(x)
    ...     return z * y
    >>> report = s2sad.explain(f, args=(0.5, 2.0))
    >>> [(v.name, v.active, v.saved) for v in report.variables]
    [('x', True, False), ('y', False, False), ('z', True, False)]

    For each variable the report says whether it is active and which line makes it active, and
    whether it is saved for the backward sweep and why. `print(report)` shows this as text;
    `report.variables` and `report["z"]` hold it as data.

    `wrt` selects parameters, as for `grad`. `args` are example arguments: f and its derivative run
    once on them, and the report adds the measured number of bytes that are saved. The arguments may
    be wrapped in Active, Duplicated and Const, as for `autodiff`. Without `args`, f's annotations
    must say the kinds. Errors are the same as for `source`.
    """
    args = () if args is None else tuple(args)
    operator = operator_fitting(f, wrt, args)
    report = report_for(operator, args)
    return replace(report, _page=partial(_frame, operator._asked(args, {})[0], report))


def _frame(request: Request, report: Report) -> str:
    """Return the page on a report, as a notebook shows it."""
    from s2sad.tools.page import page_for

    return framed(page_for(request, report))


def operator_fitting(f: Callable[..., Any], wrt: Wrt, args: tuple[Any, ...]) -> Operator[..., Any]:
    """Return the derivative of f for these arguments: the gradient, if f returns a real scalar.

    For other results it is the pullback; for a function that returns nothing it is the reverse into
    shadows. The differentiated parameters are the same as for a gradient.
    """
    if any(isinstance(a, Activity) for a in args):
        return operator_for(f, "reverse", wrt, args)
    found = operator_for(f, "grad", wrt, args)
    request, _, _ = found._asked(args, {})
    try:
        derive(request)
    except ActivityError:
        mode = _mode_for(request)
        if mode is None:
            raise
    else:
        return found
    names = request.wrt[0] if len(request.wrt) == 1 else request.wrt
    return operator_for(f, mode, names, args)


def _mode_for(request: Request) -> str | None:
    """Return the mode for a function whose result has no gradient; None if it has one."""
    if derivative_of(request.fn) is not None:
        return "vjp"
    d = Derivation()
    d.again, d.home = HIGHER, request.fn
    result = analyse(d, request.fn, dict(request.params)).kinds.result
    if has_gradient(K.without_none(result)):
        return None
    return "reverse" if isinstance(result, K.NoneKind) else "vjp"


def report_for(operator: Operator[..., Any], args: tuple[Any, ...]) -> Report:
    """Return the report on a derivative, with sizes if there are example arguments."""
    request, settled, given = operator._asked(args, {})
    request = replace(request, explained=True)
    report = report_of(derive(request))
    if request.mode == "jvp":
        return replace(report, unmeasured="a forward sweep of tangents saves nothing")
    if not args:
        return replace(report, unmeasured="there are no example arguments")
    call, meter = metered(derive(request))
    with Caught() as caught:
        _run(operator, call, request, settled, given, args)
    if caught.error is not None:
        raised = f"{type(caught.error).__name__}: {caught.error}".splitlines()[0]
        return replace(report, unmeasured=f"with the example arguments f raises {raised}")
    return with_sizes(report, meter.sizes(), meter.whole)


def _run(
    operator: Operator[..., Any],
    call: Callable[..., Any],
    request: Request,
    settled: Settled,
    given: Given,
    args: tuple[Any, ...],
) -> None:
    """Run a derived function once on example arguments; a reverse runs on copies of them."""
    bound = operator._parameters.bind((*operator._prefix, *args), operator._keywords)
    if request.mode == "reverse":
        bound.arguments.update(copy.deepcopy(given.values))
    for n in settled.as_float:
        bound.arguments[n] = float(bound.arguments[n])
    more = {}
    if request.mode == "reverse" and not request.batch:
        more = _shadows(call, request, given, bound)
    call(*bound.args, **bound.kwargs, **more)


def _shadows(
    call: Callable[..., Any], request: Request, given: Given, bound: inspect.BoundArguments
) -> dict[str, Any]:
    """Return shadows for the reverse of a function, and a seed where it wants one."""
    parameters = [*inspect.signature(call).parameters]
    mine = [n for n in parameters if n not in bound.arguments]
    values = [tree_map(lambda leaf: 0 * leaf, given.values[n]) for n in request.shadowed]
    if len(mine) > len(values):
        again = copy.deepcopy(bound)
        values.append(request.fn(*again.args, **again.kwargs))
    return dict(zip(mine, values, strict=True))
