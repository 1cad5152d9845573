import numpy as np


def listed_back(out_bar, out, structure):
    """Return the cotangents of what stands in a nested list: zeros where integers were made."""
    if out.dtype.kind in "biu":
        out_bar = np.zeros(out.shape)
    return take_apart(out_bar, structure)


def listed_like(x_bar, x):
    """Return the cotangent of a list or tuple x as a list or tuple; rules return an array."""
    if x_bar is not None and isinstance(x, (list, tuple)):
        parts = [listed_like(part, a) for part, a in zip(x_bar, x, strict=True)]
        return tuple(parts) if isinstance(x, tuple) else parts
    return x_bar


def take_apart(x_bar, structure):
    """Return the cotangents of the scalars and arrays in a nested list that became one array."""
    if isinstance(structure, (list, tuple)):
        parts = [take_apart(part, s) for part, s in zip(x_bar, structure, strict=True)]
        return tuple(parts) if isinstance(structure, tuple) else parts
    return x_bar


def rotation_grad(angle, v):
    """Gradient of rotation (rotation.py) with respect to angle and v."""
    c = np.cos(angle)
    s = np.sin(angle)
    parts = {}
    t = [[c, -s], [s, c]]
    array_t = np.array(t)
    parts = {**parts, "turned": array_t @ v}
    t_1 = [c * s, angle]
    parts = {**parts, "size": np.sum(t_1)}
    t_2 = [1.0, 2.0]

    # return np.dot(parts["turned"], [1.0, 2.0]) * parts["size"]
    parts_turned_bar = parts["size"] * np.asarray(t_2)
    # parts["size"] = np.sum([c * s, angle])
    t_bar = list(np.broadcast_to(np.dot(parts["turned"], t_2), np.asarray(t_1).shape))
    t_bar_1 = t_bar[0]
    # parts["turned"] = np.array([[c, -s], [s, c]]) @ v
    t_bar_2 = listed_like(listed_back(np.outer(parts_turned_bar, v), array_t, t), t)
    t_bar_3 = t_bar_2[0]
    t_bar_4 = t_bar_2[1]
    # c, s = np.cos(angle), np.sin(angle)
    t = t_bar[1] + (t_bar_1 * c + t_bar_4[0] - t_bar_3[1]) * np.cos(angle)
    angle_bar = t - (t_bar_1 * s + t_bar_4[1] + t_bar_3[0]) * np.sin(angle)
    return angle_bar, array_t.T @ parts_turned_bar
