"""A strict stand-in for CuPy: its arrays are none of NumPy's, and refuse to become any.

`with strict.installed():` puts modules of the names `cupy`, `cupyx`, ... where imports find them.
Each array holds one of NumPy's, which is all the device there is. What CuPy refuses is refused:
NumPy arrays and lists among the operands, conversion to NumPy, functions and keywords that CuPy
does not have. As in CuPy there are no scalars: what NumPy gives as one has no axes, and an element
is a view.
"""

import contextlib
import functools
import importlib
import operator
import sys
import types
import weakref

import numpy as np

# NumPy's functions that CuPy 14 lacks, and keywords that its functions lack.
MISSING = frozenset(
    """asmatrix block bmat busday_count busday_offset datetime_as_string datetime_data einsum_path
    frompyfunc fromregex geomspace get_include getbufsize geterr geterrcall histogram_bin_edges
    info insert is_busday isnat matvec nanpercentile nanquantile nested_iters polyder polydiv
    polyint setbufsize seterr seterrcall show_runtime spacing test typecodes unstack vecdot
    vecmat linalg.diagonal linalg.matrix_norm linalg.multi_dot linalg.outer linalg.svdvals
    linalg.tensordot linalg.test linalg.trace linalg.vecdot linalg.vector_norm fft.test""".split()
)
LACKING = {
    "where": "all any mean nanmean",
    "initial where": "amax amin max min nanmax nanmin nanprod nansum prod sum",
    "device like": "arange asanyarray asarray empty eye full ones zeros",
    "kind order": "argpartition partition",
    "order stable": "argsort sort",
    "like": "array ascontiguousarray asfortranarray identity require tri",
    "device": "astype empty_like full_like linspace ones_like zeros_like fft.fftfreq fft.rfftfreq",
    "subok": "broadcast_arrays broadcast_to copy",
    "min max": "clip",
    "keepdims": "count_nonzero",
    "where mean correction": "nanstd nanvar std var",
    "mode": "take",
    "sorted": "unique",
    "upper": "linalg.cholesky",
    "hermitian rtol": "linalg.matrix_rank linalg.pinv",
    "hermitian": "linalg.svd",
}
_LACKS = {}
for _words, _names in LACKING.items():
    for _name in _names.split():
        _LACKS[_name] = frozenset(_words.split())

# They take lists, or host arrays, where others take arrays of the device or numbers.
_MAKING = frozenset("array asarray asanyarray ascontiguousarray asfortranarray".split())
_LISTING = frozenset(
    """concatenate concat stack vstack hstack dstack column_stack select choose meshgrid append
    broadcast_arrays ix_ einsum block linalg.multi_dot result_type r_ c_ pad tile histogramdd
    lexsort unravel_index ravel_multi_index percentile quantile shape ndim size gradient
    piecewise apply_along_axis scipy.linalg.solve_toeplitz""".split()
)
_JOINING = frozenset("concatenate concat stack vstack hstack dstack column_stack".split())
# A number may stand in the place of the first array.
_NUMBERS = frozenset(
    """full zeros ones empty arange linspace logspace eye identity tri isscalar shape ndim size
    result_type can_cast promote_types finfo iinfo hamming hanning blackman bartlett kaiser indices
    bincount tri_indices tril_indices triu_indices diag_indices mask_indices min_scalar_type
    iscomplexobj isrealobj unravel_index broadcast_shapes issubdtype fft.fftfreq fft.rfftfreq
    dtype errstate isfortran""".split()
)


class ndarray:
    """An array on the device, which holds `_host`."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        if memptr is None:
            self._host = np.zeros(shape, dtype, order)
        else:
            self._host = np.ndarray(shape, dtype, memptr.host, memptr.offset, strides)

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __array_namespace__(self, api_version=None):
        return sys.modules["cupy"]

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        own = sys.modules["cupy"].__dict__.get(ufunc.__name__)
        if not isinstance(own, _Ufunc):
            return NotImplemented
        return getattr(own, method)(*inputs, **kwargs)

    def __array_function__(self, func, types_, args, kwargs):
        module = sys.modules["cupy"]
        for part in (func.__module__ or "numpy").split(".")[1:]:
            module = getattr(module, part, None)
        own = getattr(module, func.__name__, None)
        if own is None or any(t is not ndarray for t in types_):
            return NotImplemented
        return own(*args, **kwargs)

    def __getitem__(self, index):
        return wrapped(self._host[_dotted(_unwrapped(index))])

    def __setitem__(self, index, value):
        if isinstance(value, np.ndarray | list | tuple):
            raise TypeError(f"a {type(value).__name__} is written into an array of the device")
        index, value = _unwrapped(index), _unwrapped(value)
        if isinstance(value, np.ndarray) and np.shares_memory(self._host, value):
            _no_race(self._host, index, value)
            value = value.copy()
        self._host[index] = value

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"on the device: {self._host!r}"

    def __reduce__(self):
        return _again, (self._host,)

    def get(self, stream=None, order="C", out=None, blocking=True):
        return self._host.copy(order)

    def set(self, arr, stream=None):
        self._host[...] = arr

    def scatter_add(self, slices, value):
        np.add.at(self._host, _unwrapped(slices), _unwrapped(value))

    def item(self, *args):
        return self._host.item(*args)

    def tolist(self):
        return self._host.tolist()

    def view(self, dtype=None):
        return wrapped(self._host.view(dtype))

    @property
    def shape(self):
        return self._host.shape

    @property
    def base(self):
        if not isinstance(self._host.base, np.ndarray):
            return None
        known = _owners.get(id(self._host.base))
        self._kept = known if known is not None else wrapped(self._host.base)
        return self._kept

    @property
    def data(self):
        return _Pointer(self._host, 0)

    @property
    def flags(self):
        return self._host.flags


def _no_race(host, index, value):
    """Refuse a write of memory into itself that CuPy does not copy first."""
    place = host[_dotted(index)]
    if not np.shares_memory(host, place):
        raise RuntimeError("a race: what indices choose is written while it is read")
    alike = (place.shape, place.strides, place.dtype) == (value.shape, value.strides, value.dtype)
    same = place.__array_interface__["data"] == value.__array_interface__["data"]
    if alike and not same and place.flags.c_contiguous and np.shares_memory(place, value):
        raise RuntimeError("a race: memory is moved into memory that it overlaps")


def _dotted(index):
    parts = index if isinstance(index, tuple) else (index,)
    return parts if any(p is Ellipsis for p in parts) else (*parts, Ellipsis)


_owners = weakref.WeakValueDictionary()


class _Pointer:
    """An address on the device."""

    def __init__(self, host, offset):
        self.host, self.offset = host, offset
        self.ptr = host.__array_interface__["data"][0] + offset

    def __add__(self, offset):
        return _Pointer(self.host, self.offset + offset)


def _again(host):
    return wrapped(host)


def wrapped(value):
    """Return a value as the device has it: arrays and NumPy's scalars are its own arrays."""
    if isinstance(value, np.ndarray | np.generic):
        made = object.__new__(ndarray)
        made._host = np.asarray(value)
        _owners.setdefault(id(made._host), made)
        return made
    if isinstance(value, tuple):
        parts = [wrapped(part) for part in value]
        return type(value)(*parts) if hasattr(type(value), "_fields") else tuple(parts)
    return [wrapped(part) for part in value] if isinstance(value, list) else value


def _unwrapped(value):
    """Return what the device computes with; host arrays are refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, slice):
        return slice(*(_unwrapped(p) for p in (value.start, value.stop, value.step)))
    if isinstance(value, list | tuple) and not hasattr(type(value), "_fields"):
        return type(value)(_unwrapped(part) for part in value)
    return value


def on_host(value):
    """Return a structure with NumPy's arrays in the place of the device's."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, dict):
        return {key: on_host(part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [on_host(part) for part in value]
        return type(value)(*parts) if hasattr(type(value), "_fields") else tuple(parts)
    return [on_host(part) for part in value] if isinstance(value, list) else value


def on_device(value):
    """Return a structure with the device's arrays in the place of NumPy's."""
    if isinstance(value, dict):
        return {key: on_device(part) for key, part in value.items()}
    if isinstance(value, tuple | list) and not hasattr(type(value), "_fields"):
        return type(value)(on_device(part) for part in value)
    return wrapped(value)


def _method(name):
    def method(self, *args, **kwargs):
        return wrapped(getattr(self._host, name)(*_unwrapped(args), **_unwrapped_all(kwargs)))

    method.__name__ = method.__qualname__ = name
    return method


def _unwrapped_all(kwargs):
    out = kwargs.get("out")
    found = {key: _unwrapped(value) for key, value in kwargs.items() if key != "out"}
    return found if out is None else {**found, "out": _unwrapped(out)}


for _name in """all any argmax argmin argpartition argsort astype choose clip compress conj
    conjugate copy cumprod cumsum diagonal dot fill flatten max mean min nonzero partition prod
    put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take trace transpose
    var""".split():
    setattr(ndarray, _name, _method(_name))
for _name in "T dtype imag itemsize mT nbytes ndim real size strides".split():
    setattr(ndarray, _name, property(lambda self, n=_name: wrapped(getattr(self._host, n))))


def _operator(name):
    fn = getattr(operator, name.removeprefix("__"), None)

    def apply(self, *others):
        if any(isinstance(o, np.ndarray) for o in others):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if any(isinstance(o, list | tuple | str) or o is None for o in others):
            return NotImplemented
        if fn is None:  # __radd__
            method = getattr(operator, name.removeprefix("__r"))
            return wrapped(method(_unwrapped(others[0]), self._host))
        return wrapped(fn(self._host, *map(_unwrapped, others)))

    apply.__name__ = name
    return apply


for _name in """add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift neg pos abs
    invert lt le eq ne gt ge""".split():
    _bare = _name.strip("_")
    setattr(ndarray, f"__{_bare}__", _operator(f"__{_name}"))
    if hasattr(np.ndarray, f"__r{_bare}__"):
        setattr(ndarray, f"__r{_bare}__", _operator(f"__r{_name}"))


ndarray.__divmod__ = lambda self, other: wrapped(divmod(self._host, _unwrapped(other)))
ndarray.__rdivmod__ = lambda self, other: wrapped(divmod(_unwrapped(other), self._host))


def _in_place(name):
    fn = getattr(operator, name)

    def apply(self, other):
        if isinstance(other, np.ndarray | list):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        self._host = fn(self._host, _unwrapped(other))
        return self

    return apply


for _name in "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor imatmul".split():
    setattr(ndarray, f"__{_name}__", _in_place(_name))
for _name in "bool float int complex index".split():
    setattr(ndarray, f"__{_name}__", lambda self, n=_name: getattr(self._host.item(), f"__{n}__")())
ndarray.__complex__ = lambda self: complex(self._host.item())
ndarray.__module__ = "cupy"


class _Ufunc:
    """What CuPy has for a ufunc: no ufunc of NumPy's, and no Python function."""

    def __init__(self, like):
        self._like = like
        self.__name__ = like.__name__
        self.nin, self.nout = like.nin, like.nout

    def __call__(self, *args, **kwargs):
        for arg in args:
            if isinstance(arg, np.ndarray | list | tuple):
                raise TypeError(f"Unsupported type {type(arg)}")
        return wrapped(self._like(*_unwrapped(args), **_unwrapped_all(kwargs)))

    def at(self, a, indices, b=None):
        if not isinstance(a, ndarray):
            raise TypeError("only an array of the device is written")
        given = [_unwrapped(indices)] + ([] if b is None else [_unwrapped(b)])
        self._like.at(a._host, *given)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        out = _unwrapped(out)
        return wrapped(self._like.reduce(_device(array), axis, dtype, out, keepdims))

    def accumulate(self, array, axis=0, dtype=None, out=None):
        return wrapped(self._like.accumulate(_device(array), axis, dtype, _unwrapped(out)))

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        host = _device(array), _unwrapped(indices)
        return wrapped(self._like.reduceat(*host, axis, dtype, _unwrapped(out)))

    def outer(self, A, B, **kwargs):
        return wrapped(self._like.outer(_device(A), _device(B), **kwargs))


_Ufunc.__module__ = "cupy._core._kernel"
_Ufunc.__qualname__ = _Ufunc.__name__ = "ufunc"


def _device(value):
    if not isinstance(value, ndarray):
        raise TypeError(f"an array of the device is wanted, not {type(value).__name__}")
    return value._host


class ElementwiseKernel:
    """A kernel whose operation is read as Python."""

    def __init__(self, in_params, out_params, operation, name="kernel", **options):
        self._params = [p.split()[1] for p in in_params.split(",")]
        self._out = out_params.split()[1]
        self._operation = operation
        self.__name__ = name

    def __call__(self, *args):
        names = dict(zip(self._params, map(_unwrapped, args), strict=True))
        exec(self._operation, {"np": np}, names)
        return wrapped(names[self._out])


class RawKernel:
    """A kernel: nothing runs it here."""

    def __init__(self, code, name):
        self.name = name

    def __call__(self, grid, block, args):
        raise RuntimeError("there is no GPU")


for _class in (ElementwiseKernel, RawKernel):
    _class.__module__ = "cupy._core._kernel"
# CuPy's own methods are compiled: nothing is read of these.
for _class in (ndarray, _Ufunc, ElementwiseKernel, RawKernel):
    for _own in filter(callable, list(vars(_class).values())):
        _own.__module__ = _class.__module__


def _function(fn, path, home):
    """Return the device's version of a function of NumPy's."""
    lacks = _LACKS.get(path, frozenset())
    listed = path in _LISTING or path in _MAKING

    @functools.wraps(fn)
    def call(*args, **kwargs):
        if lacks & kwargs.keys():
            raise TypeError(f"{path}() got an unexpected keyword argument: {lacks & kwargs.keys()}")
        host = path in _MAKING
        for i, arg in enumerate(args):
            if isinstance(arg, np.ndarray) and not host:
                raise TypeError(f"{path}: Unsupported type <class 'numpy.ndarray'>")
            if i == 0 and isinstance(arg, list | tuple) and not listed and path not in _NUMBERS:
                raise TypeError(f"{path}: an array is wanted, not a {type(arg).__name__}")
            if i == 0 and path in _JOINING and not all(isinstance(p, ndarray) for p in arg):
                raise TypeError("only arrays of the device can be joined")
            number = isinstance(arg, bool | int | float | complex | np.generic)
            taking = listed or path in _NUMBERS or path.startswith("scipy.special")
            if i == 0 and number and not taking:
                raise TypeError(f"{path}: an array is wanted, not a number")
        if host:
            args = tuple(on_host(a) for a in args)
        elif path in ("apply_along_axis", "apply_over_axes", "piecewise"):
            args = tuple(_host_function(a) if callable(a) else a for a in args)
        return wrapped(fn(*_unwrapped(args) if not host else args, **_unwrapped_all(kwargs)))

    call.__module__ = home
    return call


def _host_function(fn):
    return lambda *args: on_host(fn(*map(wrapped, args)))


def _fill(module, like, prefix=""):
    home = module.__name__
    for name in dir(like):
        value, path = getattr(like, name, None), f"{prefix}{name}"
        if name.startswith("_") or path in MISSING or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, np.ufunc):
            setattr(module, name, _same(_Ufunc, value))
        elif isinstance(value, type) or not callable(value):
            if name not in ("ndarray", "matrix", "recarray", "vectorize", "r_", "c_", "s_"):
                setattr(module, name, value)
        else:
            setattr(module, name, _same(functools.partial(_function, path=path, home=home), value))


_made = {}


def _same(make, value):
    """Return one object for one function, under whatever names it goes."""
    key = id(value)
    if key not in _made:
        _made[key] = value, make(value)
    return _made[key][1]


def _modules():
    cupy = types.ModuleType("cupy")
    cupy.ndarray = ndarray
    _fill(cupy, np)
    cupy.linalg = types.ModuleType("cupy.linalg")
    _fill(cupy.linalg, np.linalg, "linalg.")
    cupy.fft = types.ModuleType("cupy.fft")
    _fill(cupy.fft, np.fft, "fft.")
    cupy.polynomial = types.ModuleType("cupy.polynomial")
    cupy.polynomial.polynomial = types.ModuleType("cupy.polynomial.polynomial")
    for name in "polyvander polycompanion polyval polyvalfromroots".split():
        like = getattr(np.polynomial.polynomial, name)
        made = _function(like, name, "cupy.polynomial.polynomial")
        setattr(cupy.polynomial.polynomial, name, made)
    cupy.random = types.ModuleType("cupy.random")
    for name in "rand randn uniform normal random seed permutation randint choice".split():
        setattr(cupy.random, name, _function(getattr(np.random, name), "full", "cupy.random"))
    cupy.ufunc, cupy.ElementwiseKernel, cupy.RawKernel = _Ufunc, ElementwiseKernel, RawKernel
    cupy.newaxis = None

    def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
        return a.get() if isinstance(a, ndarray) else np.asarray(a, order=order)

    def get_array_module(*args):
        return cupy if any(isinstance(a, ndarray) for a in args) else np

    def fuse(*args, **kwargs):
        if args and callable(args[0]):
            return _Fused(args[0])
        return _Fused

    for fn in (asnumpy, get_array_module, fuse):
        fn.__module__ = "cupy"
        setattr(cupy, fn.__name__, fn)
    found = {m.__name__: m for m in (cupy, cupy.linalg, cupy.fft, cupy.random)}
    found |= {m.__name__: m for m in (cupy.polynomial, cupy.polynomial.polynomial)}
    return found | _extended(cupy)


class _Fused:
    """A function whose operations the device runs as one."""

    def __init__(self, func):
        self.func = func

    def __call__(self, *args):
        return self.func(*args)


_Fused.__module__ = "cupy._core.fusion"


def _extended(cupy):
    cupyx = types.ModuleType("cupyx")

    def scatter_add(a, slices, value):
        a.scatter_add(slices, value)

    def rsqrt(x):
        return wrapped(1.0 / np.sqrt(_unwrapped(x)))

    for fn in (scatter_add, rsqrt):
        fn.__module__ = "cupyx"
        setattr(cupyx, fn.__name__, fn)
    cupyx.scipy = types.ModuleType("cupyx.scipy")
    cupyx.scipy.get_array_module = cupy.get_array_module
    found = {"cupyx": cupyx, "cupyx.scipy": cupyx.scipy}
    for name in ("fft", "special", "linalg", "ndimage", "signal"):
        try:
            like = importlib.import_module(f"scipy.{name}")
        except ImportError:
            continue
        module = types.ModuleType(f"cupyx.scipy.{name}")
        _fill(module, like, f"scipy.{name}.")
        setattr(cupyx.scipy, name, module)
        found[module.__name__] = module
    return found


@functools.cache
def modules():
    """Return the stand-ins by the names of the modules for which they stand."""
    return _modules()


def _is_cupys(module):
    return module.split(".")[0] in ("cupy", "cupyx") or module.startswith("array_api_compat.cupy")


@contextlib.contextmanager
def installed():
    """Let imports of CuPy find the stand-in, and give it."""
    hidden = {n: m for n, m in sys.modules.items() if _is_cupys(n)}
    for name in hidden:
        del sys.modules[name]
    sys.modules.update(modules())
    rules = importlib.import_module("s2sad.rules.cupy")
    rules.register(modules()["cupy"], modules()["cupyx"])
    try:
        yield modules()["cupy"]
    finally:
        for name in [n for n in sys.modules if _is_cupys(n)]:
            del sys.modules[name]
        sys.modules.update(hidden)
