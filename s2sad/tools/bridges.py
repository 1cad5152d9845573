"""Functions of NumPy arrays inside the derivatives of other libraries: PyTorch and JAX.

    layer = to_torch(f)         takes and returns tensors; can be differentiated twice
    layer = to_jax(f)           takes and returns JAX arrays; works inside jit and grad

The other library is imported at the first call of the bridge.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.api import callee_of, hvp, jvp, vjp
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.syntax.snippets import defined
from s2sad.tools.raised import Caught
from s2sad.tree import branch_of, is_float_leaf, leaves

__all__ = ["to_jax", "to_torch"]


def _imported(module: str, operator: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise UnsupportedError(
            f"{operator} needs {module}, which is not installed.", remedy=f"pip install {module}"
        ) from None


def _replaced(structure: Any, change: Callable[[Any], Any]) -> Any:
    """Return lists, tuples and dicts with their leaves changed."""
    if isinstance(structure, list | tuple | dict):
        branch = branch_of(structure)
        assert branch is not None
        return branch.rebuild([_replaced(part, change) for part in branch.parts])
    return change(structure)


# PyTorch


def to_torch(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return f as a function of PyTorch tensors, which can be differentiated twice.

        layer = s2sad.to_torch(lambda x: np.cumsum(np.tanh(x)))
        x = torch.ones(3, dtype=torch.float64, requires_grad=True)
        layer(x).sum().backward()           # x.grad is a tensor of shape (3,)

    Tensors in the arguments, also inside lists, tuples and dicts, become NumPy arrays; float arrays
    and numbers in the result become tensors. s2sad differentiates with respect to the tensors that
    require a gradient; all other arguments are constants. Tensors must be on the CPU. Derivatives
    with respect to complex tensors follow PyTorch: they are the conjugates of s2sad's derivatives.
    An UnsupportedError is raised if PyTorch is not installed, or under the transforms of
    torch.func; the errors of `grad` are raised when the derivative is computed.
    """
    torch = _imported("torch", "to_torch")
    callee_of(f, "to_torch")
    function = _torch_function(torch, f)
    by_position = _by_position(f)

    @functools.wraps(f, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors: list[Any] = []

        def placed(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            _require_array(torch, leaf, _name(f))
            tensors.append(leaf)
            return _Slot(len(tensors) - 1)

        call_ = _Call(f, _replaced(by_position(args, kwargs), placed))
        try:
            y, *parts = function.apply(call_, *tensors)
        except RuntimeError:
            wrapped = torch._C._functorch.is_functorch_wrapped_tensor
            if not any(map(wrapped, tensors)):
                raise
            raise UnsupportedError(
                f"The transforms of torch.func cannot go through {_name(f)}, which needs the "
                "numbers themselves.",
                remedy="Use torch.autograd, or s2sad's own grad, jacobian and hvp.",
            ) from None
        given = iter(parts)
        return _replaced(y.structure, lambda leaf: next(given) if leaf is _TENSOR else leaf)

    return call


def _by_position(f: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """Return a function that puts the arguments of a call of f in order."""
    signature = inspect.signature(f)

    def ordered(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not kwargs:
            return args
        bound = signature.bind(*args, **kwargs)
        if bound.kwargs:
            raise UnsupportedError(
                f"The argument {next(iter(bound.kwargs))} of {_name(f)} cannot be given by "
                "position.",
                remedy=f"Wrap {_name(f)} in a function that takes all arguments by position.",
            )
        return bound.args

    return ordered


def _require_array(torch: Any, tensor: Any, name: str) -> None:
    """Raise for a tensor that cannot be a NumPy array."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.device.type != "cpu":
        why, remedy = f"is on {tensor.device}", "tensor.cpu()"
    elif tensor.layout != torch.strided:
        why, remedy = "is sparse", "tensor.to_dense()"
    elif tensor.is_quantized:
        why, remedy = "is quantized", "tensor.dequantize()"
    elif dtype.startswith(("bfloat", "float8")):
        why, remedy = f"is of {dtype}", "tensor.float()"
    else:
        return
    raise UnsupportedError(
        f"A tensor {why}, and {name} works on NumPy arrays.", remedy=f"Give it {remedy}."
    )


class _Slot:
    """The place of a tensor in the arguments."""

    def __init__(self, index: int) -> None:
        self.index = index


class _Result:
    """The result of a call, with a mark in the place of each tensor."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure


_TENSOR = object()


class _Call:
    """A function and its arguments; some of them are tensors."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.f = f
        self.args = args

    def arrays(self, tensors: Any) -> tuple[Any, ...]:
        """Return the arguments with arrays in the places of tensors; None for None."""

        def filled(leaf: Any) -> Any:
            if not isinstance(leaf, _Slot):
                return leaf
            return _array(tensors[leaf.index])

        return tuple(_replaced(a, filled) for a in self.args)

    def moving(self, wanted: Any) -> tuple[int, ...]:
        """Return the positions of the arguments with tensors that are differentiated."""
        return tuple(i for i, a in enumerate(self.args) if any(wanted[s.index] for s in _slots(a)))

    def by_tensor(self, positions: Any, bars: Any, count: int) -> list[Any]:
        """Return the cotangents of the tensors in a list, from the cotangents of the arguments."""
        found: list[Any] = [None] * count
        for i, bar in zip(positions, bars, strict=True):
            for slot, part in _beside(self.args[i], bar):
                found[slot.index] = part
        return found

    def tangents(self, positions: Any, given: Any, tensors: Any) -> tuple[Any, ...]:
        """Return tangents with the structure of the arguments; zero for a missing tangent."""

        def filled(leaf: Any) -> Any:
            if not isinstance(leaf, _Slot):
                return np.zeros_like(leaf)[()] if is_float_leaf(leaf) else None
            tangent = given[leaf.index]
            return _array(tangent) if tangent is not None else 0.0 * _array(tensors[leaf.index])

        return tuple(
            _replaced(a, filled) if i in positions else None for i, a in enumerate(self.args)
        )


def _slots(structure: Any) -> list[_Slot]:
    found: list[_Slot] = []
    _replaced(structure, lambda leaf: found.append(leaf) if isinstance(leaf, _Slot) else None)
    return found


def _beside(structure: Any, bar: Any) -> list[tuple[_Slot, Any]]:
    if isinstance(structure, _Slot):
        return [(structure, bar)]
    if not isinstance(structure, list | tuple | dict):
        return []
    keys = structure if isinstance(structure, dict) else range(len(structure))
    return [pair for key in keys for pair in _beside(structure[key], bar[key])]


def _array(tensor: Any) -> Any:
    """Return a copy of a tensor's content; a number for a 0-d tensor."""
    made = np.array(tensor.detach().resolve_conj().resolve_neg().numpy())
    return made if made.ndim else made[()]


def _tensor(torch: Any, array: Any, like: Any = None) -> Any:
    made = torch.from_numpy(np.array(array))
    return made if like is None else made.to(like.dtype)


def _conjugate(array: Any) -> Any:
    return np.conj(array) if np.iscomplexobj(array) else array


def _torch_function(torch: Any, f: Callable[..., Any]) -> Any:
    weighted = functools.lru_cache(maxsize=None)(functools.partial(_weighted, f))

    class Function(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
        @staticmethod
        def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
            ctx.call = call
            ctx.wanted = ctx.needs_input_grad[1:]
            ctx.positions = call.moving(ctx.wanted)
            ctx.save_for_backward(*tensors)
            args = call.arrays(tensors)
            if ctx.positions:
                y, ctx.pullback = vjp(f, *args, wrt=ctx.positions)
            else:
                y = f(*args)
            ctx.paths = [leaf.path for leaf in leaves(y, "y")]
            ctx.like = y
            parts = [_tensor(torch, leaf.value) for leaf in leaves(y)]
            marked = _replaced(y, lambda leaf: _TENSOR if is_float_leaf(leaf) else leaf)
            if len(leaves(marked)) or len(parts) != _count(marked):
                raise ActivityError(
                    f"{_name(f)} returns an object that holds arrays, and PyTorch has no "
                    "tensor for such an object.",
                    remedy="Return numbers, arrays, or lists, tuples and dicts of these.",
                )
            return _Result(marked), *parts

        @staticmethod
        def backward(ctx: Any, _: Any, *bars: Any) -> Any:
            return None, *Backward.apply(ctx, *bars, *ctx.saved_tensors)

    class Backward(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
        """The pullback; it has derivatives with respect to its cotangent and the arguments."""

        @staticmethod
        def forward(ctx: Any, first: Any, *rest: Any) -> Any:
            count = len(first.paths)
            bars, tensors = rest[:count], rest[count:]
            ctx.first, ctx.count = first, count
            ctx.save_for_backward(*rest)
            y_bar = _filled(first.like, [_conjugate(_array(b)) for b in bars])
            found = first.call.by_tensor(first.positions, first.pullback(y_bar), len(tensors))
            return tuple(
                None if bar is None or not wanted else _tensor(torch, _conjugate(bar), tensor)
                for bar, wanted, tensor in zip(found, first.wanted, tensors, strict=True)
            )

        @staticmethod
        def backward(ctx: Any, *directions: Any) -> Any:
            return None, *Second.apply(ctx.first, *directions, *ctx.saved_tensors)

    class Second(torch.autograd.Function):  # type: ignore[misc,name-defined,unused-ignore]
        """The derivative of the pullback; it has no further derivative."""

        @staticmethod
        def forward(ctx: Any, first: Any, *rest: Any) -> Any:
            count = len(first.paths)
            size = (len(rest) - count) // 2
            directions, bars, tensors = rest[:size], rest[size : size + count], rest[-size:]
            if any(torch.is_complex(t) for t in (*bars, *tensors)):
                raise UnsupportedError(
                    "s2sad does not support second derivatives with complex tensors under PyTorch.",
                    remedy="Pass the real and imaginary parts as separate tensors.",
                )
            args, positions = first.call.arrays(tensors), first.positions
            along = first.call.tangents(positions, directions, tensors)
            _, y_dot = jvp(f, args, along)
            weights = tuple(_array(b) for b in bars)
            summed = weighted(len(args), tuple(first.paths))
            products = hvp(summed, (*args, weights), (*along, None))
            if len(positions) == 1:
                products = (products,)
            found = first.call.by_tensor(positions, products, len(tensors))
            return (
                *(
                    _tensor(torch, leaf.value, bar)
                    for leaf, bar in zip(leaves(y_dot), bars, strict=True)
                ),
                *(
                    None if bar is None else _tensor(torch, bar, tensor)
                    for bar, tensor in zip(found, tensors, strict=True)
                ),
            )

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise UnsupportedError(
                f"s2sad does not support third derivatives of {_name(f)} under PyTorch.",
                remedy="Differentiate it with s2sad: grad, hessian and hvp nest to any order.",
            )

    return Function


def _count(structure: Any) -> int:
    found: list[Any] = []
    _replaced(structure, lambda leaf: found.append(leaf) if leaf is _TENSOR else None)
    return len(found)


def _filled(like: Any, parts: list[Any]) -> Any:
    """Return parts in a structure, with None in place of leaves that are not floats."""
    given = iter(parts)
    return _replaced(like, lambda leaf: next(given) if is_float_leaf(leaf) else None)


def _weighted(f: Callable[..., Any], count: int, paths: tuple[str, ...]) -> Callable[..., Any]:
    """Return the sum of f's result times weights, as a function of arguments and weights."""
    given = ", ".join(f"a{i}" for i in range(count))
    terms = " + ".join(f"np.sum(weights[{i}] * {path})" for i, path in enumerate(paths))
    text = f"def weighted({given}, weights):\n    y = f({given})\n    return {terms}\n"
    return defined(text, {"f": f, "np": np}, "weighted")


def _name(f: Callable[..., Any]) -> str:
    name: str = getattr(f, "__name__", repr(f))
    return "the lambda" if name == "<lambda>" else name


# JAX


def to_jax(f: Callable[..., Any], like: Any = None) -> Callable[..., Any]:
    """Return f as a function of JAX arrays that works inside `jax.grad` and `jax.jit`.

        smooth = s2sad.to_jax(lambda u: np.cumsum(np.tanh(u)))
        jax.jit(jax.grad(lambda u: smooth(u).sum()))(jnp.ones(3))     # shape (3,)

    JAX calls NumPy (`jax.pure_callback`) for the value and for the pullback. It must know the
    shapes and dtypes of the result in advance: pass them as `like`, a structure of arrays or
    `jax.ShapeDtypeStruct`. Without `like`, s2sad runs f once on ones. Only first derivatives in
    reverse mode are available. f must be pure, as JAX demands. An UnsupportedError is raised if JAX
    is not installed, or if f raises an exception for ones.
    """
    jax = _imported("jax", "to_jax")
    callee_of(f, "to_jax")

    def host(args: Any) -> tuple[Any, ...]:
        return tuple(jax.tree_util.tree_map(_on_host, a) for a in args)

    def shapes(args: Any) -> Any:
        if like is not None:
            return jax.tree_util.tree_map(_shape_of(jax), like)
        ones = jax.tree_util.tree_map(lambda a: _on_host(np.ones(a.shape, a.dtype)), args)
        with Caught() as caught:
            y = f(*ones)
        if caught.error is not None:
            raise UnsupportedError(
                f"to_jax runs {_name(f)} on ones to see what it returns, and it raises {caught}.",
                remedy="Describe the result: to_jax(f, like=...).",
            ) from caught.error
        return jax.tree_util.tree_map(_shape_of(jax), y)

    def run(*args: Any) -> Any:
        return jax.tree_util.tree_map(np.asarray, f(*host(args)))

    def pull(args: Any, bar: Any) -> Any:
        given = host(args)
        moving = tuple(i for i, a in enumerate(given) if leaves(a))
        _, pullback = vjp(f, *given, wrt=moving)
        found = dict(zip(moving, pullback(host((bar,))[0]), strict=True))
        return tuple(
            jax.tree_util.tree_map(np.asarray, found[i])
            if i in found
            else jax.tree_util.tree_map(np.zeros_like, given[i])
            for i in range(len(given))
        )

    @jax.custom_vjp  # type: ignore[untyped-decorator,unused-ignore]
    def call(*args: Any) -> Any:
        args = jax.tree_util.tree_map(jax.numpy.asarray, args)
        return jax.pure_callback(run, shapes(args), *args, vmap_method="sequential")

    def forward(*args: Any) -> Any:
        args = jax.tree_util.tree_map(jax.numpy.asarray, args)
        return call(*args), args

    def backward(args: Any, bar: Any) -> Any:
        floats = jax.tree_util.tree_map(_shape_of(jax), args)
        found = jax.pure_callback(pull, floats, args, bar, vmap_method="sequential")
        return jax.tree_util.tree_map(_as_cotangent(jax), found, args)

    call.defvjp(forward, backward)
    return functools.wraps(f, updated=())(call)


def _on_host(array: Any) -> Any:
    made = np.array(array)
    return made if made.ndim else made[()]


def _shape_of(jax: Any) -> Callable[[Any], Any]:
    def shape(leaf: Any) -> Any:
        if not hasattr(leaf, "dtype") and not isinstance(leaf, int | float | complex):
            raise ActivityError(
                f"JAX has no arrays of type {type(leaf).__name__}.",
                remedy="Return numbers, arrays, or lists, tuples and dicts of these.",
            )
        dtype = leaf.dtype if hasattr(leaf, "dtype") else np.result_type(leaf)
        return jax.ShapeDtypeStruct(np.shape(leaf), jax.dtypes.canonicalize_dtype(dtype))

    return shape


def _as_cotangent(jax: Any) -> Callable[[Any, Any], Any]:
    def cotangent(found: Any, given: Any) -> Any:
        if given.dtype.kind in "fc":
            return found
        return np.zeros(given.shape, jax.dtypes.float0)

    return cotangent
