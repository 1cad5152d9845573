"""A convolution by its definition: loops over indices."""

import numpy as np

WRT = (0, 1)


def convolution(kernel, image):
    rows, columns = image.shape
    k = kernel.shape[0]
    total = 0.0
    for i in range(rows - k + 1):
        for j in range(columns - k + 1):
            out = 0.0
            for p in range(k):
                for q in range(k):
                    out += kernel[p, q] * image[i + p, j + q]
            total += out**2
    return total


def arguments():
    normal = np.random.default_rng(10).standard_normal
    return normal((2, 2)), normal((4, 5))
