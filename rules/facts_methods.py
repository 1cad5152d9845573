"""What is known of the methods of lists, dicts, sets, deques, arrays and texts.

Their object is the first argument.
"""

import collections

import numpy as np

from s2sad.registry import declare

deque = collections.deque

declare(list.append, list.extend, list.insert, list.__setitem__, writes="puts")
declare(list.pop, list.remove, list.clear, list.__delitem__, writes="takes")
declare(list.sort, list.reverse, writes="orders")
declare(dict.update, dict.setdefault, dict.__setitem__, writes="puts")
declare(dict.pop, dict.popitem, dict.clear, dict.__delitem__, writes="takes")
declare(set.add, set.update, writes="puts")
declare(set.pop, set.remove, set.discard, set.clear, writes="takes")
declare(deque.append, deque.appendleft, deque.extend, deque.insert, writes="puts")
declare(deque.extendleft, deque.__setitem__, writes="puts")
declare(deque.pop, deque.popleft, deque.remove, deque.clear, writes="takes")
declare(deque.reverse, deque.rotate, writes="orders")
declare(np.ndarray.fill, np.ndarray.put, np.ndarray.setfield, writes="puts")
declare(np.ndarray.__setitem__, np.ndarray.resize, writes="puts")
declare(np.ndarray.sort, np.ndarray.partition, np.ndarray.byteswap, writes="orders")

LOOKING = (
    *(list.copy, list.index, list.count, tuple.index, tuple.count, set.copy),
    *(dict.copy, dict.items, dict.values, dict.keys, dict.get),
    *(deque.copy, deque.index, deque.count),
    *(np.ndarray.tolist, np.ndarray.tobytes, np.ndarray.item, np.ndarray.view),
    *(np.ndarray.astype, np.ndarray.copy, np.ndarray.flatten, np.ndarray.ravel),
    *(np.ndarray.nonzero, np.ndarray.__len__, np.ndarray.__array__),
    *(str.split, str.join, str.strip, str.lower, str.upper, str.format, str.startswith),
    *(str.endswith, str.index, str.count),
)
declare(*LOOKING, does="nothing", writes="nothing")

declare(list.append, list.insert, list.pop, list.clear, list.copy, list.reverse, asks=())
declare(list.__setitem__, list.__delitem__, list.extend, asks=())
declare(list.index, list.count, list.remove, asks=("__eq__",), asks_items=("__eq__",))
declare(tuple.index, tuple.count, asks=("__eq__",), asks_items=("__eq__",))
declare(list.sort, asks=(), asks_items=("__lt__", "__gt__"))
declare(dict.items, dict.values, dict.keys, dict.copy, dict.clear, dict.popitem, asks=())
declare(dict.get, dict.pop, dict.setdefault, asks=("__hash__",), asks_items=("__eq__",))
declare(deque.append, deque.appendleft, deque.pop, deque.popleft, deque.extend, asks=())
declare(set.add, set.remove, set.discard, asks=("__hash__",), asks_items=("__eq__",))
