"""What has no derivative here, by name, with the reason and something to do instead."""

import collections
import dataclasses
import heapq
import itertools
import operator

import numpy as np

from s2sad.registry import held, refuse


def is_of_text(home, name):
    """Return whether a name in np.char or np.strings belongs to a function of text."""
    return name == "chararray" or held(home, name) is not held(np, name)


CONST = "Make its inputs Const, or compute its result outside the function."

refuse(
    np,
    "vectorize",
    because="it calls a function of yours, for each element",
    instead="Write np.vectorize(f)(x), with no keyword but otypes=[float], or call f on arrays.",
)
refuse(
    np,
    "frompyfunc",
    because="it calls a function of yours, for each element, and makes arrays of objects",
    instead="Use np.vectorize(f)(x), or call f on arrays.",
)
refuse(
    np,
    "piecewise",
    because="s2sad cannot tell which functions it calls",
    instead="Write the lists of conditions and functions in the call itself, or use np.select.",
)
refuse(
    np,
    "fromfunction",
    because="it passes your function more arguments than the indices",
    instead="Write np.fromfunction(f, shape), or call the function on np.indices(shape).",
)
refuse(
    np,
    "fromiter",
    because="s2sad does not know the items of an iterator",
    instead="Use np.array of a list.",
)
for texts in (np.char, getattr(np, "strings", np.char)):
    refuse(
        texts,
        " ".join(name for name in texts.__all__ if is_of_text(texts, name)),
        because="it is about text",
        instead=CONST,
    )
refuse(
    np.rec,
    "array find_duplicate format_parser fromarrays fromfile fromrecords fromstring record",
    because="records are not plain arrays",
    instead="Use an array for each field.",
)
refuse(
    np,
    "longdouble clongdouble float96 float128 complex192 complex256",
    because="the precision of its numbers differs between machines",
    instead="Use np.float64 and np.complex128, or .astype.",
)
refuse(
    np,
    "datetime64 timedelta64 busdaycalendar record void str_ bytes_ object_ character flexible",
    because="it is not a number",
    instead=CONST,
)
refuse(
    np.random,
    "ranf sample",
    because="it is another name of np.random.random",
    instead="Use np.random.random, or a generator of np.random.default_rng.",
)
refuse(
    np,
    "matrix asmatrix bmat",
    because="np.matrix is not a plain array",
    instead="Use arrays with @, and np.block.",
)
refuse(
    np,
    "nditer nested_iters flatiter broadcast",
    because="it is an iterator over arrays",
    instead="Loop over indices or A.ravel(), or broadcast with np.broadcast_arrays.",
)
refuse(
    np,
    "ndenumerate ndindex",
    because="it is an iterator, and s2sad supports it only as the iterable of a loop",
    instead="Write it in the loop itself: for at, v in np.ndenumerate(A).",
)
refuse(
    np,
    "recarray memmap",
    because="it is a class of arrays of its own",
    instead="Use plain arrays.",
)
refuse(
    np,
    "load loadtxt genfromtxt fromfile fromregex save savetxt savez savez_compressed",
    because="it reads or writes files",
    instead=CONST,
)
refuse(
    np,
    "frombuffer fromstring from_dlpack",
    because="it reads other objects' memory",
    instead="Use np.asarray.",
)
refuse(
    np,
    "seterr seterrcall setbufsize set_printoptions printoptions geterr geterrcall getbufsize "
    "get_printoptions get_include info show_config show_runtime test",
    because="it is about NumPy itself",
    instead=CONST,
)
refuse(
    np.ndarray,
    "view getfield byteswap",
    because="it reads the memory of an array in another way",
    instead="Use .real and .imag, np.stack, .astype, or .view() without a dtype.",
)
refuse(
    np.ndarray,
    "setfield resize",
    because="it changes the shape or the type of an array in place",
    instead="Make a new array: np.reshape, np.resize.",
)
refuse(
    np.ndarray,
    "tobytes tofile dump dumps",
    because="its result is not a number",
    instead=CONST,
)
refuse(
    np.ndarray,
    "base",
    because="s2sad does not record which array a view belongs to",
    instead="Name the array itself.",
)
refuse(
    np.ndarray,
    "to_device",
    because="s2sad cannot follow arrays from device to device",
    instead="Move the arguments to the device before the call.",
)
for ufunc in (np.power, np.float_power, np.arctan2):
    refuse(
        ufunc,
        "reduce reduceat",
        because="its result for more than two numbers differs between machines",
        instead="Write a loop, or functools.reduce.",
    )
refuse(
    operator,
    "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift iconcat",
    because="it may write into its argument",
    instead="Write the statement instead: a += b.",
)
refuse(
    operator,
    "setitem delitem",
    because="it writes into its argument",
    instead="Write the statement instead: a[i] = v.",
)
refuse(
    itertools,
    "islice",
    because="only the running program shows how far its iterable has been read",
    instead="Make it a list or an array, and slice that: x[a:b:c].",
)
refuse(
    itertools,
    "cycle",
    because="it is read item by item and has no end",
    instead="Index what it goes through: x[i % len(x)].",
)
refuse(
    itertools,
    "groupby",
    because="each of its groups can be read only once, before the next one",
    instead="Write a loop that compares the key of each item with that of the item before.",
)
refuse(
    heapq,
    "merge",
    because="it is read item by item, and gives a generator",
    instead="Sort a list of them all: sorted([*a, *b]).",
)
for home, names in ((collections, "namedtuple"), (dataclasses, "make_dataclass")):
    refuse(
        home,
        names,
        because="it makes a new class in every call",
        instead="Make the class at module level, outside all functions.",
    )
