import numpy as np


def ring_buffer_jvp(x, gain, delay, x_dot, gain_dot):
    """Value and tangent of ring_buffer (ring_buffer.py), given the tangents of x and gain."""
    ring = np.zeros(delay)
    ring_dot = np.zeros_like(ring)
    energy = 0.0
    energy_dot = 0.0
    for i in range(len(x)):
        k = i % delay
        y = x[i] + gain * ring[k]
        y_dot = x_dot[i] + gain_dot * ring[k] + ring_dot[k] * gain
        ring[k] = y
        ring_dot[k] = y_dot
        energy += y**2
        energy_dot = energy_dot + 2.0 * y_dot * y
    return energy, energy_dot
