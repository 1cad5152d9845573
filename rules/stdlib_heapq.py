"""Heaps in lists, as Python: every item ends up at the place where heapq puts it."""

import heapq

from s2sad.registry import written_out


@written_out()
def sift_up(heap, at, first):
    """Let an item rise, above all those that it is less than."""
    item = heap[at]
    while at > first:
        parent = (at - 1) // 2
        if not item < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@written_out()
def sift_down(heap, first):
    """Fill the place of an item from below, down to a leaf; from there the item rises."""
    item = heap[first]
    size = len(heap)
    at = first
    below = 2 * at + 1
    while below < size:
        if below + 1 < size and not heap[below] < heap[below + 1]:
            below += 1
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = item
    sift_up(heap, at, first)


@written_out(heapq.heappush)
def heappush(heap, item, /):
    """A new item rises from the end."""
    heap.append(item)
    sift_up(heap, len(heap) - 1, 0)


@written_out(heapq.heappop)
def heappop(heap, /):
    """The last item sinks from where the least one was."""
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    sift_down(heap, 0)
    return least


@written_out(heapq.heapify)
def heapify(heap, /):
    """Each item that has others below it sinks, the last of them first."""
    for at in reversed(range(len(heap) // 2)):
        sift_down(heap, at)


@written_out(heapq.heapreplace)
def heapreplace(heap, item, /):
    """A new item sinks from where the least one was."""
    least = heap[0]
    heap[0] = item
    sift_down(heap, 0)
    return least


@written_out(heapq.heappushpop)
def heappushpop(heap, item, /):
    """A new item sinks from where the least one was, unless it is the least itself."""
    if len(heap) > 0 and heap[0] < item:
        least = heap[0]
        heap[0] = item
        sift_down(heap, 0)
        return least
    return item


@written_out(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    """The first of all, in order."""
    return sorted(iterable, key=key)[: max(n, 0)]


@written_out(heapq.nlargest)
def nlargest(n, iterable, key=None):
    """The first of all, in the opposite order."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]
