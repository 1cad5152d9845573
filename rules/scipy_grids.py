"""scipy.interpolate: tables and grids, in their values and where they are asked."""

import math

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward, written_out
from s2sad.runtime import unbroadcast

# tables


def table_like(table):
    """Return what tells how a table is asked: twice as many axes as one value has.

    There is one more where the values are along the last axis; None of any other but the first.
    """
    rest = table.y.ndim - 1
    if table.axis not in (0, rest):
        return None
    ones = (1,) * (rest + (table.axis > 0))
    extra = table.y.shape[1:] if table.axis == 0 else table.y.shape[:-1]
    return np.zeros(extra + ones, table.y.dtype)


def table_sample(cls, array):
    """Return a table of zeros, along its first or its last axis."""
    extra = array.shape[: array.ndim // 2]
    if array.ndim % 2:
        return cls(np.arange(6.0), np.zeros((*extra, 6), array.dtype))
    return cls(np.arange(6.0), np.zeros((6, *extra), array.dtype), axis=0)


def looked_up(table, x):
    """Interpolate in a table."""
    return table(x)


def zero_table(table):
    """Return the cotangent of a table that nothing depends on."""
    return np.zeros_like(table.y)


def places_in(table, x):
    """Return which places count: those in the table, all where it goes on beyond its ends."""
    inside = (x >= table.x[0]) & (x <= table.x[-1])
    return inside | isinstance(table.fill_value, str)


def table_weights(table, x):
    """Return how the values of a table count at places, and the slopes there, place by place."""
    places = np.ravel(x)
    counts = places_in(table, places)[:, None]
    kind = table._spline.k if table._kind == "spline" else table._kind
    units = interpolate.interp1d(
        table.x, np.eye(len(table.x)), kind, axis=0, fill_value="extrapolate"
    )
    weights = np.where(counts, units(places), 0.0)
    return weights, np.where(counts, table_slopes(table, places), 0.0)


def table_slopes(table, places):
    """Return the slopes of a table, place by place; the slope of a step is zero."""
    if table._kind == "linear":
        left = np.clip(np.searchsorted(table.x, places) - 1, 0, table.x.size - 2)
        y, width = by_places(table.y, table.axis, 1), table.x[left + 1] - table.x[left]
        return (y[left + 1] - y[left]) / width[:, None]
    if hasattr(table, "_spline"):
        return np.reshape(table._spline(places, 1), (places.size, -1))
    return np.zeros((places.size, 1))


def by_places(values, axis, count):
    """Return values with a row for each place; `count` axes from one on are over the places."""
    moved = np.moveaxis(values, range(axis, axis + count), range(count))
    return np.reshape(moved, (math.prod(moved.shape[:count]), -1))


def in_shape(rows, shape, axis, count):
    """Return rows for each place in the shape that the values have."""
    over = shape[axis : axis + count]
    whole = np.reshape(rows, (*over, *shape[:axis], *shape[axis + count :]))
    return np.moveaxis(whole, range(count), range(axis, axis + count))


@pullback(looked_up, once="s2sad does not know the type of the values in the table")
def pull_looked_up(out_bar, out, table, x):
    weights, slopes = table_weights(table, x)
    bars = by_places(out_bar, table.axis, np.ndim(x))
    x_bar = np.reshape(np.sum(bars * slopes, axis=1), np.shape(x))
    return in_shape(weights.T @ bars, table.y.shape, table.axis, 1), x_bar


@pushforward(looked_up)
def push_looked_up(out, table, x, table_dot, x_dot):
    weights, slopes = table_weights(table, x)
    moved = np.zeros((np.size(x), 1))
    if table_dot is not None:
        moved = moved + weights @ by_places(table_dot, table.axis, 1)
    if x_dot is not None:
        moved = moved + slopes * np.reshape(x_dot, (-1, 1))
    whole = moved + np.zeros((1, np.size(out) // max(np.size(x), 1)))
    return in_shape(whole, np.shape(out), table.axis, np.ndim(x))


library_objects(
    interpolate.interp1d,
    like=table_like,
    check="{0}.axis in (0, {0}.y.ndim - 1) and 2 * {0}.y.ndim - 2 + ({0}.axis > 0) == {1}",
    sample=table_sample,
    zero=zero_table,
    functions={"__call__": looked_up},
)


def check_beyond(kind, fill_value):
    """Refuse steps that go on beyond the ends: there SciPy holds the value at the end apart."""
    if kind in ("previous", "next") and isinstance(fill_value, str):
        raise NotImplementedError(
            "interp1d has no derivative of steps that go on beyond the ends; use kind='nearest', "
            "or let the table reach further"
        )


def table_of(x, y, kind="linear", axis=-1, **settings):
    """Return a table that is asked as one of these values is."""
    return interpolate.interp1d(np.arange(float(np.shape(y)[axis])), y, axis=axis)


@pullback(interpolate.interp1d, unknown=("x",), result=table_of)
def pull_interp1d(
    out_bar,
    out,
    x,
    y,
    *,
    kind="linear",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    check_beyond(kind, fill_value)
    if assume_sorted:
        return None, out_bar
    return None, np.take(out_bar, np.argsort(np.argsort(x, kind="mergesort")), axis)


@pushforward(interpolate.interp1d)
def push_interp1d(
    out,
    x,
    y,
    x_dot,
    y_dot,
    *,
    kind="linear",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    check_beyond(kind, fill_value)
    return y_dot if assume_sorted else np.take(y_dot, np.argsort(x, kind="mergesort"), axis)


# grids


NO_METHOD = (
    "RegularGridInterpolator has a derivative with method linear, nearest, slinear, cubic or "
    "quintic"
)


def grid_like(grid):
    """Return an array like one value of a grid."""
    return np.zeros(grid.values.shape[len(grid.grid) :], grid.values.dtype)


def grid_sample(cls, array):
    """Return a grid over a plane whose values are like an array."""
    return cls((np.arange(6.0), np.arange(6.0)), np.zeros((6, 6, *array.shape), array.dtype))


def zero_grid(grid):
    """Return the cotangent of a grid that nothing depends on."""
    return np.zeros_like(grid.values)


def on_grid(grid, xi, method=None, nu=None):
    """Interpolate on a grid."""
    return grid(xi, method, nu=nu)


def cells(grid, xi):
    """Return the lower corners of the cells of points, the places in them, and who counts.

    What is outside counts where the grid goes on there.
    """
    left, part, counts = [], [], np.ones(xi.shape[:-1], bool)
    for axis, knots in enumerate(grid.grid):
        x = xi[..., axis]
        lower = np.clip(np.searchsorted(knots, x, "right") - 1, 0, knots.size - 2)
        left.append(lower)
        part.append((x - knots[lower]) / (knots[lower + 1] - knots[lower]))
        counts &= (x >= knots[0]) & (x <= knots[-1])
    return left, part, counts | (grid.fill_value is None)


def along_points(values, like_this):
    """Return one number per point with axes for what the values hold."""
    return np.reshape(values, values.shape + (1,) * (like_this.ndim - values.ndim))


def grid_slopes(grid, xi, method):
    """Return the slopes along every axis, as they go with the points' coordinates."""
    method = grid.method if method is None else method
    if method not in ("linear", "nearest", "slinear", "cubic", "quintic"):
        raise NotImplementedError(NO_METHOD)
    left, _, counts = cells(grid, xi)
    found = []
    for axis, knots in enumerate(grid.grid):
        if method == "linear":
            ends = []
            for knot in (left[axis], left[axis] + 1):
                moved = np.array(xi)
                moved[..., axis] = knots[knot]
                ends.append(grid(moved, method))
            width = knots[left[axis] + 1] - knots[left[axis]]
            slope = (ends[1] - ends[0]) / along_points(width, ends[0])
        elif method == "nearest":
            slope = np.zeros_like(grid(xi, method))
        else:
            slope = grid(xi, method, nu=np.eye(len(grid.grid), dtype=int)[axis])
        found.append(np.where(along_points(counts, slope), slope, 0.0))
    return found


def points_of(xi):
    """Return points as an array: given in a tuple, coordinates stand apart."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*xi), axis=-1).astype(float)
    return np.asarray(xi, float)


def points_cotangent(out_bar, grid, xi, method, nu):
    """Return the cotangent of points, in the form in which they are given."""
    if nu is not None:
        raise NotImplementedError("RegularGridInterpolator has no derivative where nu is given")
    points = points_of(xi)
    bars = []
    for slope in grid_slopes(grid, points, method):
        bar = np.reshape(out_bar, slope.shape) * slope
        bars.append(np.sum(bar, axis=tuple(range(points.ndim - 1, bar.ndim))))
    if isinstance(xi, tuple):
        return tuple(unbroadcast(bar, np.shape(x)) for bar, x in zip(bars, xi, strict=True))
    return np.reshape(np.stack(bars, axis=-1), np.shape(xi))


ORDERS = {"slinear": 1, "cubic": 3, "quintic": 5}


def tensor_cotangent(out_bar, grid, points, order, counts):
    """Return the cotangent of values through which products of splines go, one along each axis."""
    bar = np.reshape(out_bar, (counts.size, -1)) * np.ravel(counts)[:, None]
    for axis, knots in reversed(list(enumerate(grid.grid))):
        units = interpolate.make_interp_spline(knots, np.eye(len(knots)), order)
        weights = units(np.ravel(points[..., axis]))
        bar = np.reshape(weights[:, :, None] * bar[:, None, :], (counts.size, -1))
    return np.reshape(np.sum(bar, axis=0), grid.values.shape).astype(grid.values.dtype)


def values_cotangent(out_bar, grid, xi, method):
    """Return the cotangent of the values of a grid that is interpolated linearly."""
    method = grid.method if method is None else method
    points = points_of(xi)
    left, part, counts = cells(grid, points)
    if method == "nearest":
        part = [np.where(p <= 0.5, 0.0, 1.0) for p in part]
    elif method in ORDERS:
        return tensor_cotangent(out_bar, grid, points, ORDERS[method], counts)
    elif method != "linear":
        raise NotImplementedError(NO_METHOD)
    values_bar = np.zeros_like(grid.values)
    bar = np.reshape(out_bar, points.shape[:-1] + grid.values.shape[len(left) :])
    for corner in np.ndindex(*(2,) * len(left)):
        weight = counts.astype(grid.values.dtype)
        for upper, p in zip(corner, part, strict=True):
            weight = weight * (p if upper else 1.0 - p)
        place = tuple(lower + upper for lower, upper in zip(left, corner, strict=True))
        np.add.at(values_bar, place, along_points(weight, bar) * bar)
    return values_bar


def on_plane(grid, xi, *rest):
    """Return points with two coordinates, like the points of the sample of a grid."""
    if isinstance(xi, tuple):
        return grid, tuple(0.0 * x for x in np.broadcast_arrays(*xi)[:1] * 2), *rest
    return grid, np.zeros((*np.shape(xi)[:-1], 2)), *rest


@pullback(on_grid, samples=on_plane, once="the slopes are gathered axis by axis")
def pull_on_grid(out_bar, out, grid, xi, *, method=None, nu=None):
    xi_bar = points_cotangent(out_bar, grid, xi, method, nu)
    return values_cotangent(out_bar, grid, xi, method), xi_bar


@pushforward(on_grid)
def push_on_grid(out, grid, xi, grid_dot, xi_dot, *, method=None, nu=None):
    if nu is not None:
        raise NotImplementedError("RegularGridInterpolator has no derivative where nu is given")
    out_dot = np.zeros_like(out)
    if grid_dot is not None:
        beyond = None if grid.fill_value is None else 0.0
        moved = interpolate.RegularGridInterpolator(
            grid.grid, grid_dot, grid.method, grid.bounds_error, beyond
        )
        out_dot = out_dot + moved(xi, method)
    if xi_dot is None:
        return out_dot
    points = points_of(xi)
    if isinstance(xi, tuple):
        pairs = zip(xi, xi_dot, strict=True)
        xi_dot = points_of(tuple(np.zeros_like(x) if t is None else t for x, t in pairs))
    xi_dot = np.reshape(xi_dot, points.shape)
    for axis, slope in enumerate(grid_slopes(grid, points, method)):
        moved = along_points(xi_dot[..., axis], slope) * slope
        out_dot = out_dot + np.reshape(moved, out_dot.shape)
    return out_dot


library_objects(
    interpolate.RegularGridInterpolator,
    like=grid_like,
    check="{0}.values.ndim == len({0}.grid) + {1}",
    sample=grid_sample,
    zero=zero_grid,
    functions={"__call__": on_grid},
    of_tuples=("__call__",),
)


def points_of_grid(points, values, *rest):
    """Return points along every axis, as many as there are values."""
    return tuple(np.arange(float(n)) for n in np.shape(values)[: len(points)]), values, *rest


@pullback(
    interpolate.RegularGridInterpolator, unknown=("points",), samples=points_of_grid, view="maybe"
)
def pull_regular_grid(
    out_bar, out, points, values, *, method="linear", bounds_error=True, fill_value=np.nan
):
    fall = tuple(axis for axis, x in enumerate(points) if x[0] > x[-1])
    return None, np.flip(out_bar, fall)


@pushforward(interpolate.RegularGridInterpolator)
def push_regular_grid(
    out,
    points,
    values,
    points_dot,
    values_dot,
    *,
    method="linear",
    bounds_error=True,
    fill_value=np.nan,
):
    return np.flip(values_dot, tuple(axis for axis, x in enumerate(points) if x[0] > x[-1]))


@written_out(interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    """A grid, made and asked."""
    if method == "splinef2d":
        raise NotImplementedError("interpn has no derivative with splinef2d; use method='cubic'")
    values = np.asarray(values)
    grid = interpolate.RegularGridInterpolator(
        points, values, method=method, bounds_error=bounds_error, fill_value=fill_value
    )
    return grid(xi)
