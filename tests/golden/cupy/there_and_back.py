import cupy as cp


def there_and_back_grad(x, host):
    """Gradient of there_and_back (device_programs.py) with respect to x."""
    asarray_host = cp.asarray(host)
    scaled = x * asarray_host
    asnumpy_scaled = cp.asnumpy(scaled)

    # return np.sum(cp.asnumpy(scaled) ** 2)
    x_bar = cp.asarray(2.0 * asnumpy_scaled) * asarray_host
    return x_bar
