import numpy as np


def random_walk_grad(price, volatility, noise, strike, barrier):
    """Gradient of random_walk (random_walk.py) with respect to price and volatility."""
    arm = None
    saved = []
    for row in noise:
        s = price
        broke = False
        rounds = 0
        for z in row:
            rounds += 1
            exp_t = np.exp(volatility * z - 0.5 * volatility**2)
            saved.append((s, exp_t))
            s = s * exp_t
            if s > barrier:
                arm = 0
                broke = True
                break
            arm = 1
        if not broke:
            arm_1 = 0
        else:
            arm_1 = 1
        saved.append((arm, arm_1, rounds, s))
    len_noise = len(noise)

    # return payoff / len(noise)
    payoff_bar = 1.0 / len_noise
    price_bar = 0.0
    volatility_bar = 0.0
    for i in range(len(noise) - 1, -1, -1):
        row = noise[i]
        arm, arm_1, rounds, s = saved.pop()
        if arm_1 == 0:
            # payoff += max(s - strike, 0.0)
            s_bar = 0.5 * payoff_bar * (s - strike >= 0.0) + 0.5 * payoff_bar * (s - strike > 0.0)
        else:
            s_bar = 0.0
        for i_1 in range(rounds - 1, -1, -1):
            z = row[i_1]
            s, exp_t = saved.pop()
            # s = s * np.exp(volatility * z - 0.5 * volatility**2)
            t_bar = s_bar * s * exp_t
            s_bar = s_bar * exp_t
            volatility_bar = volatility_bar - t_bar * volatility
            volatility_bar = volatility_bar + t_bar * z
        # s = price
        price_bar = price_bar + s_bar
    return price_bar, volatility_bar
