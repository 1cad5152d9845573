"""What CuPy has beside NumPy's functions: ways to the device and back, kernels, scatter_add.

All else that CuPy's functions do, NumPy's of the same names do: they have NumPy's rules.
"""

import sys

import numpy as np

from s2sad.registry import (
    elementwise,
    nondifferentiable,
    pullback,
    pushforward,
    refuse,
    to_host,
    twins,
)


def asnumpy(a, stream=None, order="C", out=None):
    """Stand for cupy.asnumpy, and the method .get(): what NumPy gives in their place."""
    return np.array(a, order=order)


@pullback(asnumpy)
def pull_asnumpy(out_bar, out, a, *, stream=None, order="C"):
    return out_bar


@pushforward(asnumpy)
def push_asnumpy(out, a, a_dot, *, stream=None, order="C"):
    return a_dot


def rsqrt(x):
    """Stand for cupyx.rsqrt."""
    return 1.0 / np.sqrt(x)


@elementwise(rsqrt, regular={"x": 1.0})
def rsqrt_slope(out, x):
    return -0.5 * out / x


KERNELS = "ElementwiseKernel ReductionKernel RawKernel RawModule fuse"


def register(cupy, cupyx=None):
    """Say what the functions of this CuPy are."""
    nondifferentiable(cupy.get_array_module)
    twins({cupy.asnumpy: asnumpy})
    to_host(cupy.asnumpy)
    refuse(
        cupy,
        KERNELS,
        because="it runs code that is not Python",
        instead="Write a rule for the kernel that is called with @s2sad.pullback(kernel), or "
        "write the operation with cupy's functions.",
    )
    if cupyx is not None:
        twins({cupyx.scatter_add: np.add.at, cupyx.rsqrt: rsqrt})
        nondifferentiable(cupyx.scipy.get_array_module)


if "cupy" not in sys.modules:
    raise ImportError("s2sad.rules.cupy has the rules of CuPy: import cupy before it")
register(sys.modules["cupy"], sys.modules.get("cupyx"))
