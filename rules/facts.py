"""What is known of Python's and NumPy's functions beside their derivatives."""

import builtins
import dataclasses
import functools
import inspect
import itertools
import math
import operator
import sys
import traceback
import warnings

import numpy as np

from s2sad import runtime
from s2sad.registry import declare

# --- the algebraic form --------------------------------------------------------------------------

declare(operator.add, np.add, form="sum")
declare(operator.sub, np.subtract, form="difference")
declare(operator.mul, np.multiply, form="product")
declare(operator.truediv, np.true_divide, form="quotient")
declare(operator.mod, np.remainder, np.fmod, form="remainder")
declare(operator.pow, builtins.pow, math.pow, np.power, np.float_power, form="power")
declare(operator.matmul, np.matmul, np.dot, np.inner, np.vdot, form="inner")
declare(np.outer, np.kron, np.tensordot, form="outer")
declare(operator.neg, np.negative, form="negative")
declare(operator.pos, np.positive, builtins.float, np.float64, np.asarray, form="identity")
declare(builtins.sum, np.sum, form="total")
declare(np.mean, form="mean")
declare(np.max, np.min, np.nanmean, np.nanmax, np.nanmin, np.median, np.nanmedian, form="entries")
declare(np.reshape, np.ravel, np.transpose, np.expand_dims, np.squeeze, form="entries")
declare(np.broadcast_to, np.copy, np.sort, np.array, form="entries")
declare(np.cumsum, form="running total")
declare(builtins.abs, math.fabs, np.abs, np.fabs, np.square, form="magnitude")
declare(np.linalg.norm, np.linalg.vector_norm, np.linalg.matrix_norm, form="size")
declare(np.var, np.std, np.nanvar, np.nanstd, np.ptp, np.hypot, form="size")
declare(builtins.len, math.hypot, math.dist, form="size")
declare(math.exp, math.exp2, math.cosh, np.exp, np.exp2, np.cosh, form="exponential")
declare(math.sqrt, np.sqrt, form="root")
declare(math.cbrt, np.cbrt, form="cube root")
declare(np.log, np.log2, np.log10, math.log, math.log2, math.log10, form="logarithm")
declare(np.log1p, form="logarithm of one plus")
declare(np.reciprocal, form="reciprocal")
declare(builtins.max, np.maximum, form="largest")
declare(builtins.min, np.minimum, form="smallest")
declare(np.where, form="choice")
declare(np.conj, np.real, keeps_real=True)
declare(np.clip, form="clip")

# --- entries of the result that do not depend on an operand --------------------------------------

declare(np.where, np.select, np.choose, np.piecewise, parts="joined")
declare(np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, parts="joined")
declare(np.column_stack, np.block, np.append, np.insert, parts="joined")
declare(np.array, np.asarray, parts="joined")
declare(builtins.max, builtins.min, np.maximum, np.minimum, np.fmax, np.fmin, parts="joined")
declare(np.pad, np.tril, np.triu, np.diag, np.diagflat, np.clip, np.nan_to_num, parts="widened")

# --- what a derivative may raise where the function has raised nothing ---------------------------

declare(float, list, tuple, zip, sum, len, dict, raises="nothing")
declare(math.sin, math.cos, math.tanh, math.sinh, math.cosh, math.atan, raises="nothing")
declare(math.atan2, math.asinh, math.hypot, math.erf, math.erfc, raises="nothing")
declare(math.fabs, math.copysign, math.floor, math.ceil, math.trunc, raises="nothing")
declare(math.degrees, math.radians, raises="nothing")
declare(math.isfinite, math.isnan, math.isinf, raises="nothing")
declare(np.linalg.cholesky, np.linalg.solve, np.linalg.inv, np.linalg.lstsq, raises="the same")
declare(np.linalg.eigh, np.linalg.eig, np.linalg.svd, np.linalg.qr, raises="the same")
declare(np.linalg.pinv, raises="the same")

# --- results that never have a derivative --------------------------------------------------------

declare(len, range, int, bool, round, hash, id, carries=False)
declare(np.broadcast_to, runtime.unbroadcast, form="fitted")
declare(np.zeros_like, np.ones_like, np.empty_like, np.shape, np.ndim, np.size, of_shape=True)
declare(isinstance, issubclass, callable, hasattr, type, carries=False)
declare(print, str, repr, any, all, carries=False)

# --- what is done beside giving a value ----------------------------------------------------------

declare(abs, divmod, pow, round, bool, int, float, complex, does="nothing")
declare(len, range, slice, type, does="nothing")
declare(isinstance, issubclass, callable, hash, id, hasattr, does="nothing")
declare(list, tuple, dict, set, frozenset, does="nothing", reads="whole")
declare(sum, max, min, sorted, math.fsum, math.prod, does="nothing", reads="whole")
declare(any, all, does="nothing", reads="until")
declare(zip, enumerate, reversed, does="nothing", reads="lazily")
declare(iter, reads="lazily")
declare(itertools.accumulate, itertools.chain, itertools.pairwise, reads="lazily")
declare(next, reads="until")  # it changes the iterator
declare(map, filter, does="calls", reads="lazily")
declare(functools.reduce, does="calls", reads="whole")
declare(getattr, str, repr, does="calls")  # properties, __str__, __repr__
declare(dict.fromkeys, functools.partial, does="nothing")
declare(ArithmeticError, AssertionError, IndexError, KeyError, does="nothing")
declare(NotImplementedError, RuntimeError, TypeError, ValueError, does="nothing")
declare(ZeroDivisionError, does="nothing")
declare(np.zeros_like, np.full_like, np.broadcast_to, runtime.object_of, does="nothing")
declare(runtime.private, runtime.apart, runtime.unshared, copies=True)
declare(print, np.load, np.save, np.savez, np.savez_compressed, does="outside")
declare(np.savetxt, np.loadtxt, np.genfromtxt, np.fromfile, does="outside")
declare(np.seterr, np.seterrcall, np.setbufsize, np.set_printoptions, does="outside")
declare(np.show_config, np.show_runtime, np.info, does="outside")

declare(inspect.currentframe, inspect.stack, sys._getframe, does="frames")
declare(traceback.extract_stack, traceback.format_stack, does="frames")

# --- special methods of the objects that are given -----------------------------------------------

declare(len, asks=("__len__",))
declare(bool, asks=("__bool__", "__len__"))
declare(str, print, asks=("__str__", "__repr__"))
declare(repr, asks=("__repr__",))
declare(hash, asks=("__hash__",))
declare(abs, asks=("__abs__",))
declare(int, asks=("__int__", "__index__"))
declare(float, asks=("__float__", "__index__"))
declare(complex, asks=("__complex__", "__float__", "__index__"))
declare(round, asks=("__round__",))
declare(iter, asks=("__iter__", "__call__"))
declare(next, asks=("__next__",))
declare(isinstance, issubclass, callable, id, type, getattr, hasattr, setattr, delattr, asks=())
declare(functools.partial, dataclasses.replace, vars, asks=())
declare(list, tuple, zip, enumerate, reversed, asks=("__iter__", "__reversed__", "__getitem__"))
declare(map, filter, functools.reduce, asks=("__call__", "__iter__", "__getitem__"))
declare(sum, asks=("__iter__", "__getitem__"), asks_items=("__add__", "__radd__"))
declare(any, all, asks=("__iter__", "__getitem__"), asks_items=("__bool__", "__len__"))
declare(max, min, asks=("__call__", "__iter__", "__lt__"), asks_items=("__lt__", "__gt__"))
declare(sorted, asks=("__call__", "__iter__"), asks_items=("__lt__", "__gt__"))
declare(dict, set, frozenset, asks=("__iter__", "__getitem__"), asks_items=("__hash__", "__eq__"))
declare(str, repr, print, asks_items=("__repr__",))

# --- memory of the first argument ----------------------------------------------------------------

declare(len, str, repr, isinstance, type, id, hash, format, writes="nothing")
declare(bool, int, callable, hasattr, getattr, writes="nothing")
declare(print, warnings.warn, writes="nothing")
declare(sorted, any, all, range, enumerate, zip, reversed, writes="nothing")
declare(list, tuple, dict, set, frozenset, iter, writes="nothing")
declare(np.isscalar, np.shape, np.ndim, np.size, dataclasses.replace, writes="nothing")
declare(np.may_share_memory, np.shares_memory, writes="nothing")
declare(np.printoptions, np.errstate, writes="nothing")
declare(operator.setitem, operator.iadd, operator.isub, operator.imul, writes="puts")
declare(operator.itruediv, operator.iconcat, operator.delitem, writes="puts")
declare(setattr, delattr, writes="puts")

# --- rules that take lists as they are -----------------------------------------------------------

declare(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, sequences=True)
declare(np.column_stack, np.block, np.select, np.choose, sequences=True)
declare(np.array, np.asarray, np.asanyarray, np.ix_, sequences=True)
declare(np.broadcast_arrays, np.histogramdd, np.einsum, sequences=True)
declare(np.linalg.multi_dot, sequences=True)

# --- functions that take numbers where others want arrays ----------------------------------------

declare(np.asarray, np.array, np.full, np.zeros, np.ones, np.empty, scalars=True)
declare(np.arange, np.linspace, np.eye, np.shape, np.ndim, np.size, np.real, scalars=True)
declare(np.float16, np.float32, np.float64, np.complex64, np.complex128, scalars=True)
declare(np.int64, scalars=True)
