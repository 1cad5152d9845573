import numpy as np


def convolution_grad(kernel, image):
    """Gradient of convolution (convolution.py) with respect to kernel and image."""
    rows, columns = image.shape
    k = kernel.shape[0]
    saved = []
    for i in range(rows - k + 1):
        for j in range(columns - k + 1):
            out = 0.0
            for p in range(k):
                for q in range(k):
                    out += kernel[p, q] * image[i + p, j + q]
            saved.append(out)

    # return total
    image_bar = np.zeros_like(image)
    kernel_bar = np.zeros_like(kernel)
    for i in range(rows - k + 1 - 1, -1, -1):
        for j in range(columns - k + 1 - 1, -1, -1):
            # total += out**2
            out_bar = 2.0 * saved.pop()
            for p in range(k - 1, -1, -1):
                for q in range(k - 1, -1, -1):
                    # out += kernel[p, q] * image[i + p, j + q]
                    image_bar[i + p, j + q] += out_bar * kernel[p, q]
                    kernel_bar[p, q] += out_bar * image[i + p, j + q]
    return kernel_bar, image_bar
