import math
import numpy as np


def dft_grad(signal, k):
    """Gradient of dft (dft.py) with respect to signal."""
    real = 0.0
    imaginary = 0.0
    n = len(signal)
    saved = []
    for t, s in enumerate(signal):
        angle = 2.0 * math.pi * k * t / n
        cos_angle = math.cos(angle)
        real += s * cos_angle
        sin_angle = math.sin(angle)
        imaginary -= s * sin_angle
        saved.append((sin_angle, cos_angle))

    # return math.sqrt(real**2 + imaginary**2)
    t_0 = 0.5 / math.sqrt(real**2 + imaginary**2)
    imaginary_bar = 2.0 * t_0 * imaginary
    real_bar = 2.0 * t_0 * real
    signal_bar = np.zeros_like(signal)
    for t in range(len(signal) - 1, -1, -1):
        sin_angle, cos_angle = saved.pop()
        signal_bar[t] += real_bar * cos_angle - imaginary_bar * sin_angle
    return signal_bar
