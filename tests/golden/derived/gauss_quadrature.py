import numpy as np

NODES = (-0.7745966692414834, 0.0, 0.7745966692414834)
WEIGHTS = (0.5555555555555556, 0.8888888888888888, 0.5555555555555556)


def integrand_forward(t, *, rate):
    """integrand (gauss_quadrature.py), with the values that integrand_reverse reads."""
    t_0 = -rate
    exp_t = np.exp(t_0 * t)
    sin_t = np.sin(t)
    return exp_t * sin_t, (t, exp_t, sin_t, t_0)


def integrand_reverse(kept, value_bar):
    """Adjoint of integrand (gauss_quadrature.py) with respect to t and rate, given the adjoint of
    its result.
    """
    t, exp_t, sin_t, t_0 = kept

    # return np.exp(-rate * t) * np.sin(t)
    t_bar = value_bar * sin_t * exp_t
    return value_bar * exp_t * np.cos(t) + t_bar * t_0, -t_bar * t


def gauss_quadrature_grad(rate, end):
    """Gradient of gauss_quadrature (gauss_quadrature.py) with respect to rate and end."""
    half = 0.5 * end
    total = 0.0
    saved = []
    for node, weight in zip(NODES, WEIGHTS):
        t = node + 1.0
        integrand_t, integrand_saved = integrand_forward(half * t, rate=rate)
        saved.append((weight, integrand_saved, t))
        total += weight * integrand_t

    rate_bar = 0.0
    while saved:
        weight, integrand_saved, t = saved.pop()
        # total += weight * integrand(half * (node + 1.0))
        t_bar, t_1 = integrand_reverse(integrand_saved, half * weight)
        rate_bar = rate_bar + t_1
        total = total + t_bar * t
    return rate_bar, 0.5 * total
