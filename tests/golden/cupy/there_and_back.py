import cupy as cp


def there_and_back_grad(x, host):
    """Gradient of there_and_back (device_programs.py) with respect to x."""
    asarray_host = cp.asarray(host)
    scaled = x * asarray_host
    return cp.asarray(2.0 * cp.asnumpy(scaled)) * asarray_host
