import numpy as np

NODES = (-0.7745966692414834, 0.0, 0.7745966692414834)
WEIGHTS = (0.5555555555555556, 0.8888888888888888, 0.5555555555555556)


def integrand_forward(t, *, rate):
    """integrand (gauss_quadrature.py), with the values that integrand_reverse reads."""
    exp_t = np.exp(-rate * t)
    sin_t = np.sin(t)
    return exp_t * sin_t, (exp_t, sin_t)


def integrand_reverse(kept, t, rate, value_bar):
    """Adjoint of integrand (gauss_quadrature.py) with respect to t and rate, given the adjoint of
    its result.
    """
    exp_t, sin_t = kept
    # return np.exp(-rate * t) * np.sin(t)
    t_bar = value_bar * sin_t * exp_t
    t_bar_1 = value_bar * exp_t * np.cos(t) - t_bar * rate
    rate_bar = -t_bar * t
    return t_bar_1, rate_bar


def gauss_quadrature_grad(rate, end):
    """Gradient of gauss_quadrature (gauss_quadrature.py) with respect to rate and end."""
    half = 0.5 * end
    total = 0.0
    saved = []
    for node, weight in zip(NODES, WEIGHTS):
        integrand_t, integrand_saved = integrand_forward(half * (node + 1.0), rate=rate)
        total += weight * integrand_t
        saved.append(integrand_saved)

    # return half * total
    half_bar = total
    rate_bar = 0.0
    for i in range(min(len(NODES), len(WEIGHTS)) - 1, -1, -1):
        weight = WEIGHTS[i]
        # total += weight * integrand(half * (node + 1.0))
        t_bar, rate_bar_1 = integrand_reverse(
            saved.pop(), half * (NODES[i] + 1.0), rate, half * weight
        )
        rate_bar = rate_bar + rate_bar_1
        half_bar = half_bar + t_bar * (NODES[i] + 1.0)
    # half = 0.5 * end
    end_bar = 0.5 * half_bar
    return rate_bar, end_bar
