"""Methods and properties of arrays, each with the function whose rule serves it.

The array is the function's first argument; the remaining arguments are the same.
"""

import numpy as np

from s2sad.registry import array_methods
from s2sad.rules.indexing import compress_method
from s2sad.rules.shapes import (
    get_method,
    item_method,
    reshape_method,
    tolist_method,
    transpose_method,
)

ARRAY_METHODS = {
    "astype": np.ndarray.astype,
    "clip": np.clip,
    "choose": np.choose,
    "compress": compress_method,
    "conj": np.conj,
    "conjugate": np.conj,
    "copy": np.ndarray.copy,
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
    "diagonal": np.diagonal,
    "dot": np.dot,
    "get": get_method,
    "flatten": np.ndarray.flatten,
    "item": item_method,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "prod": np.prod,
    "ravel": np.ravel,
    "repeat": np.repeat,
    "reshape": reshape_method,
    "round": np.round,
    "squeeze": np.squeeze,
    "std": np.std,
    "sum": np.sum,
    "swapaxes": np.swapaxes,
    "take": np.take,
    "tolist": tolist_method,
    "trace": np.trace,
    "transpose": transpose_method,
    "var": np.var,
}

ARRAY_PROPERTIES = {
    "T": np.transpose,
    "imag": np.imag,
    "mT": np.matrix_transpose,
    "real": np.real,
}

ARRAY_ZERO = frozenset(
    {
        "all",
        "__array_namespace__",
        "any",
        "argmax",
        "argmin",
        "argpartition",
        "argsort",
        "nonzero",
        "searchsorted",
        "setflags",  # whether memory may be written: derivatives undo what is written all the same
    }
)

# Of the other attributes of arrays nobody knows that they show no numbers.
ARRAY_STILL = frozenset(
    {"shape", "ndim", "size", "dtype", "nbytes", "itemsize", "strides", "flags"}
)

array_methods(ARRAY_METHODS, ARRAY_PROPERTIES, ARRAY_ZERO, ARRAY_STILL)
