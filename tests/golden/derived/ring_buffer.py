import numpy as np


def ring_buffer_grad(x, gain, delay):
    """Gradient of ring_buffer (ring_buffer.py) with respect to x and gain."""
    ring = np.zeros(delay)
    len_x = len(x)
    saved = []
    for i in range(len_x):
        k = i % delay
        y = x[i] + gain * ring[k]
        saved.append((y, ring[k]))
        ring[k] = y

    x_bar = np.zeros_like(x)
    ring_bar = np.zeros_like(ring)
    gain_bar = 0.0
    for i in range(len_x - 1, -1, -1):
        y, ring_item = saved.pop()
        # ring[k] = y
        k = i % delay
        y_bar = 2.0 * y + ring_bar[k]
        # y = x[i] + gain * ring[k]
        gain_bar = gain_bar + y_bar * ring_item
        ring_bar[k] = y_bar * gain
        x_bar[i] += y_bar
    return x_bar, gain_bar
