"""Lists of lists of zeros or of None that floats are put into have shadows of floats."""

import numpy as np
import pytest
from slopes import check

X, W = np.array([0.3, 0.5]), np.array([1.0, 2.0])


def added(x, w):
    out = [[[0 for i in range(2)] for j in range(2)] for k in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                out[i][j][k] += x[i] * w[j]
    return out[0][1][0] + out[1][1][1] ** 2


def put_in_for_none(x, w):
    out = [[[None for i in range(2)] for j in range(2)] for k in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                out[i][j][k] = x[i] * w[j] * (k + 1)
    return out[0][1][0] + out[1][1][1] ** 2


def one_for_none(x, w):
    out = [[[None, None] for j in range(2)] for k in range(2)]
    out[0][1][0] = x[0] * w[1]
    return out[0][1][0] ** 2


def read_where_nothing_is_put(x, w):
    out = [[0 for i in range(3)] for j in range(2)]
    for i in range(2):
        for j in range(2):
            out[i][j] += x[i] * w[j]
    return out[0][1] ** 2 + out[1][2] * x[0] + out[0][2]


def all_are_read(x, w):
    out = [[[0 for i in range(3)] for j in range(2)] for k in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                out[i][j][k] += x[i] * w[j]
    s = 0.0
    for plane in out:
        for row in plane:
            for v in row:
                s = s + v * v + v * x[0]
    return s


def by_row(x, w):
    n = 2
    out = [[[0] * n for j in range(n)] for k in range(n)]
    for i in range(n):
        for j in range(n):
            row = out[i][j]
            for k in range(n):
                row[k] += x[k] * w[j]
    return sum(v * v for plane in out for row in plane for v in row)


def overwritten(x, w):
    out = [[[0 for i in range(2)] for j in range(2)] for k in range(2)]
    for turn in range(2):
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    out[i][j][k] = out[i][j][k] * x[0] + x[i] * w[j] * (turn + k)
        out[0][0][0] = 0
    return out[0][1][0] * out[1][1][1] + out[0][0][0] + out[0][0][1]


PROGRAMS = (
    added,
    put_in_for_none,
    one_for_none,
    read_where_nothing_is_put,
    all_are_read,
    by_row,
    overwritten,
)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f):
    check(f, X, W)
