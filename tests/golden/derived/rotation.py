import numpy as np


def rotation_grad(angle, v):
    """Gradient of rotation (rotation.py) with respect to angle and v."""
    c = np.cos(angle)
    s = np.sin(angle)
    parts = {}
    array_t = np.array([[c, -s], [s, c]])
    parts = {**parts, "turned": array_t @ v}
    t = [c * s, angle]
    parts = {**parts, "size": np.sum(t)}
    t_1 = [1.0, 2.0]

    # return np.dot(parts["turned"], [1.0, 2.0]) * parts["size"]
    parts_turned_bar = parts["size"] * np.asarray(t_1)
    # parts["size"] = np.sum([c * s, angle])
    t_bar = list(np.broadcast_to(np.dot(parts["turned"], t_1), np.asarray(t).shape))
    t_bar_1 = t_bar[0]
    # parts["turned"] = np.array([[c, -s], [s, c]]) @ v
    array_t_bar = np.outer(parts_turned_bar, v)
    # c, s = np.cos(angle), np.sin(angle)
    t = t_bar[1] + (t_bar_1 * c + array_t_bar[1, 0] - array_t_bar[0, 1]) * np.cos(angle)
    angle_bar = t - (t_bar_1 * s + array_t_bar[1, 1] + array_t_bar[0, 0]) * np.sin(angle)
    return angle_bar, array_t.T @ parts_turned_bar
