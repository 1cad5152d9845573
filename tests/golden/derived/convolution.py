import numpy as np


def convolution_grad(kernel, image):
    """Gradient of convolution (convolution.py) with respect to kernel and image."""
    rows, columns = image.shape
    k = kernel.shape[0]
    t = rows - k
    saved = []
    for i in range(t + 1):
        for j in range(columns - k + 1):
            out = 0.0
            for p in range(k):
                for q in range(k):
                    out += kernel[p, q] * image[i + p, j + q]
            saved.append(out)

    kernel_bar = np.zeros_like(kernel)
    image_bar = np.zeros_like(image)
    for i in range(t, -1, -1):
        for j in range(columns - k, -1, -1):
            out = saved.pop()
            # total += out**2
            t = 2.0 * out
            for p in range(k - 1, -1, -1):
                for q in range(k - 1, -1, -1):
                    # out += kernel[p, q] * image[i + p, j + q]
                    image_bar[i + p, j + q] += t * kernel[p, q]
                    kernel_bar[p, q] += t * image[i + p, j + q]
    return kernel_bar, image_bar
