"""Reverse mode from program to program: real numbers that are a view of complex ones.

By identity the shadow of a complex array lies like the array: both ways are held beside tangents.
"""

import dataclasses

import numpy as np
import pytest
from frozen_records import leaves
from scipy import interpolate, stats
from test_modes_on_program import derived

import s2sad
from s2sad import kinds as K
from s2sad.requests import Request

X = np.array([0.3, 0.7, 1.1, -0.4])
Z = X * (1.0 - 0.5j)


def parts_written_through_names(x):
    z = x * (1.0 + 2.0j)
    re, im = z.real, z.imag
    im[1:] *= re[:-1]
    re[0] = im[2] ** 2
    z *= x[1]
    return np.sum(np.abs(z) ** 2 * x) + im[3]


def parts_of_an_argument(z):
    z.imag[1] = z.real[0] ** 2
    z.real *= 2.0
    return np.sum((z * z * z).imag) + z.real[2]


def a_list_of_complex_arrays(z):
    parts = [z * 2.0, z[1:].copy()]
    part = parts[1]
    part.imag *= 3.0
    parts.append(parts[0])
    parts[2][1] = part[0] * 1j
    return np.real(np.sum(parts[0] * parts[2])) + np.sum(parts[1].imag ** 2)


def numbers_of_complex_arrays(z):
    w = z.copy()
    row = w[1:]
    row[0] = w[0] * w[3]
    w[2] += row[0] * (1 + 1j)
    total = 0.0
    for k in range(3):
        row[k] = row[k] * w[k]
        total += row[k].imag
    return total + np.abs(w[2])


def doubled(w, x):
    im = w.imag
    im[:2] += x[:2]
    w *= 1j
    return w


def in_a_called_function(x):
    w = x + 0.5j
    v = doubled(w, x)
    w.real[3] = x[0] * v[1].imag
    return np.sum(np.abs(v + w) ** 2)


def on_one_path(x):
    w = x * (0.5 + 1j)
    v = w.imag if x[0] > 0.0 else w.real
    v[1:] = v[:-1] * x[1:]
    return np.sum(w.real * w.imag)


def at_indices_that_repeat(x):
    w = np.zeros(3, complex)
    np.add.at(w.imag, [0, 0, 1, 2], x)
    np.add.at(w, [1, 1, 2, 2], x * 1j)
    im = w.imag
    im[[0, 2]] = im[[2, 1]] * x[0]
    return np.sum(np.abs(w) ** 2) + np.sum(im**3)


def of_a_real_conjugate(x):
    y = x * 1.0
    c = y.conj()
    c[0] *= x[1]
    y[2] = c[0] * c[3]
    return np.sum(y**3) + c[2]


def of_a_method_conjugate(z):
    w = z * 1.0
    c = w.conj()
    c[0] *= w[1]
    w[2] = c[0] * c[3]
    return np.sum(np.abs(w) ** 3) + np.abs(c[2])


def of_a_conjugate(z):
    w = z * 1.0
    c = np.conj(w)
    c.imag[0] = w.real[1]
    w -= c
    return np.sum(np.abs(w) ** 2) + c[0].imag ** 3


PROGRAMS = [
    (parts_written_through_names, X),
    (parts_of_an_argument, Z),
    (a_list_of_complex_arrays, Z),
    (numbers_of_complex_arrays, Z),
    (in_a_called_function, X),
    (on_one_path, X),
    (at_indices_that_repeat, X),
    (of_a_conjugate, Z),
    (of_a_real_conjugate, X),
    (of_a_method_conjugate, Z),
]


def request(f, x, mode):
    params = f.__code__.co_varnames[: f.__code__.co_argcount]
    kinds = tuple((n, K.kind_of(x, n)) for n in params)
    return Request(f, kinds, params[:1], True, mode)


def slopes(f, x):
    """Central differences, in the convention of gradients: by the real part minus i times that."""
    steps = np.eye(len(x)) * 1e-6
    ways = (1.0, 1j) if x.dtype.kind == "c" else (1.0,)
    found = [np.array([(f(x + e * way) - f(x - e * way)) / 2e-6 for e in steps]) for way in ways]
    return found[0] - 1j * found[1] if len(found) > 1 else found[0]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("f, x", PROGRAMS)
def test_gradients(f, x):
    fn, _ = derived(request(f, x, "value_and_grad"))
    value, gradient = fn(x.copy())
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, slopes(lambda a: f(a.copy()), x), 1e-6, 1e-8)
    assert gradient.dtype == x.dtype


@pytest.mark.usefixtures("by_identity")
@pytest.mark.parametrize("f, x", PROGRAMS)
def test_a_pullback_runs_twice(f, x):
    fn, _ = derived(request(f, x, "vjp"))
    _, pullback = fn(x.copy())
    once, again = pullback(1.0), pullback(1.0)
    np.testing.assert_array_equal(once, again)
    np.testing.assert_allclose(once, slopes(lambda a: f(a.copy()), x), 1e-6, 1e-8)


@pytest.mark.usefixtures("by_identity")
def test_cotangents_of_a_structure_of_complex_arrays():
    def f(parts):
        parts = [parts[0] * 1j, parts[1], parts[0]]
        parts[0].imag[1] *= 2.0
        parts[0][0] = parts[0][1] ** 2
        return np.sum(np.abs(parts[1] + parts[0]) ** 2)

    made = dataclasses.replace(
        request(f, Z, "grad"), params=(("parts", K.kind_of([Z, Z], "parts")),)
    )
    fn, _ = derived(made)
    expected = s2sad.grad(f)([Z, Z + 1.0])
    found = leaves([fn([Z.copy(), Z + 1.0])])
    np.testing.assert_allclose(found, leaves([expected]), 1e-10)


def written_through_a_transpose(x):
    M = np.outer(x, x[:3])
    C = M.T
    for j in range(1, 3):
        C[j] -= x[j] * C[j - 1]
        C[j] *= C[j, 0]
    M[1] = M[2] * C[0, 3]
    return np.sum(M**3) + C[1, 2] * np.sum(C)


def a_view_of_a_view(x):
    M = np.outer(x, x)
    R = np.flip(M.T[1:], 1)
    row = R[0]
    row[1:] = row[:-1] * x[1:]
    R += x
    M[0] *= R[2]
    R[...] = R * np.sum(M)
    return np.sum(M * R[0]) + row[0]


def under_two_names(x):
    M = np.outer(x, x[:3])
    N = M
    C = M.T
    C[0] *= x
    D = np.swapaxes(C, 0, 1)
    D[0] = M[1] * N[2]
    return np.sum(M**2) * N[0, 0]


def in_each_round(x):
    M = np.outer(x, x)
    for k in range(3):
        if x[k] > 0.5:
            C = np.rot90(M, k)
            C[k] *= x
            C += x[k]
        M = M * M[k]
    return np.sum(M)


BY_NAME = [written_through_a_transpose, a_view_of_a_view, under_two_names, in_each_round]


@pytest.mark.parametrize("f", BY_NAME)
def test_a_sure_view_has_that_view_of_a_cotangent(f):
    made = request(f, X, "value_and_grad")
    fn, text = derived(made)
    value, gradient = fn(X.copy())
    assert value == f(X.copy()) and "shadows" not in text
    np.testing.assert_allclose(gradient, slopes(lambda a: f(a.copy()), X), 1e-6, 1e-8)


def test_two_views_may_show_one_hooked_place():
    def f(x):
        M = np.outer(x, x)
        part = M.T[0]
        other = np.flip(M, 0)[3]
        M[0] = x
        part = s2sad.adjoint_hook(part, lambda bar: 2.0 * bar)
        return np.sum(other**2) + part[1]

    with pytest.raises(s2sad.Error, match="has another name"):
        derived(request(f, X, "grad"))


def series_of_its_own(x):
    y = x * 2.0
    p = np.polynomial.Legendre(y)
    y *= x
    return np.sum(p.coef * y)


def spline_of_its_own(x):
    y = x * 2.0
    p = interpolate.CubicSpline(np.arange(4.0), y)
    y *= x
    return p(0.5) * np.sum(y)


def through_what_is_written(x):
    y = x * 2.0
    p = interpolate.BarycentricInterpolator(np.arange(4.0), y)
    y *= x
    return p(0.5) * np.sum(y)


def density_of_what_is_written(x):
    y = x * 2.0
    p = stats.gaussian_kde(y)
    y *= x
    return p(0.5)[0] * np.sum(y)


@pytest.mark.parametrize("f", [series_of_its_own, spline_of_its_own])
def test_an_object_that_has_copied_what_it_was_given(f):
    fn, _ = derived(request(f, X, "grad"))
    np.testing.assert_allclose(fn(X.copy()), slopes(f, X), 1e-6, 1e-8)


@pytest.mark.parametrize("f", [through_what_is_written, density_of_what_is_written])
def test_an_object_that_keeps_what_it_was_given_is_refused_where_that_is_written(f):
    with pytest.raises(s2sad.UnsupportedError, match="This may write memory of an instance of"):
        derived(request(f, X, "grad"))
