import numpy as np


def ring_buffer_grad(x, gain, delay):
    """Gradient of ring_buffer (ring_buffer.py) with respect to x and gain."""
    ring = np.zeros(delay)
    len_x = len(x)
    saved = []
    for i in range(len_x):
        k = i % delay
        ring_item = ring[k]
        y = x[i] + gain * ring_item
        ring[k] = y
        saved.append((k, ring_item, y))

    # return energy
    gain_bar = 0.0
    ring_bar = np.zeros_like(ring)
    x_bar = np.zeros_like(x)
    for i in range(len_x - 1, -1, -1):
        k, ring_item, y = saved.pop()
        # energy += y**2
        y_bar = 2.0 * y + ring_bar[k]
        # ring[k] = y
        ring_bar[k] = 0.0
        # y = x[i] + gain * ring[k]
        gain_bar = gain_bar + y_bar * ring_item
        ring_bar[k] += y_bar * gain
        x_bar[i] += y_bar
    return x_bar, gain_bar
