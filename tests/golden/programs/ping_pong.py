"""Mutual recursion: two maps that call each other."""

import math

WRT = (0,)


def ping(x, n):
    if n == 0:
        return x
    return pong(math.sin(x), n - 1)


def pong(x, n):
    if n == 0:
        return 2.0 * x
    return ping(x * x + 0.5, n - 1)


def ping_pong(x, n):
    return ping(x, n) + x


def arguments():
    return 0.8, 5
