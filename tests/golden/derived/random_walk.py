import numpy as np


def random_walk_grad(price, volatility, noise, strike, barrier):
    """Gradient of random_walk (random_walk.py) with respect to price and volatility."""
    saved = []
    for row in noise:
        s = price
        broke = False
        saved_1 = []
        for z in row:
            exp_t = np.exp(volatility * z - 0.5 * volatility**2)
            saved_1.append((exp_t, s, z))
            s = s * exp_t
            if s > barrier:
                broke = True
                break
        saved.append((not broke, s, saved_1))

    # return payoff / len(noise)
    t = 1.0 / len(noise)
    price_bar = 0.0
    volatility_bar = 0.0
    while saved:
        t_1, s, saved_1 = saved.pop()
        if t_1:
            t_bar = 0.0 if 0.0 > s - strike else t * (1.0 - 0.5 * (0.0 == s - strike))
        else:
            t_bar = 0.0
        while saved_1:
            exp_t, s, z = saved_1.pop()
            # s = s * np.exp(volatility * z - 0.5 * volatility**2)
            t_bar_1 = t_bar * s * exp_t
            t_bar = t_bar * exp_t
            volatility_bar = volatility_bar - t_bar_1 * volatility + t_bar_1 * z
        # s = price
        price_bar = price_bar + t_bar
    return price_bar, volatility_bar
