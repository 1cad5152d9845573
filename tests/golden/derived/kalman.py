import math


def kalman_grad(a, q, r, observed):
    """Gradient of kalman (kalman.py) with respect to a, q and r."""
    m = 0.0
    p = 1.0
    saved = []
    for y in observed:
        m_0 = m
        m = a * m
        p_0 = p
        p = a * a * p + q
        s = p + r
        gain = p / s
        residual = y - m
        m += gain * residual
        saved.append((m_0, p_0, p, gain, residual, s, 2.0 * math.pi * s, residual**2))
        p *= 1.0 - gain

    # return nll
    a_bar = 0.0
    m_bar = 0.0
    p_bar = 0.0
    q_bar = 0.0
    r_bar = 0.0
    while saved:
        m, p_1, p, gain, residual, s, t, t_1 = saved.pop()
        # p *= 1.0 - gain
        gain_bar = m_bar * residual - p_bar * p
        p_bar = p_bar * (1.0 - gain)
        # m += gain * residual
        residual_bar = m_bar * gain
        # nll += 0.5 * (math.log(2.0 * math.pi * s) + residual**2 / s)
        s_bar = math.pi / t - 0.5 * t_1 / s / s - gain_bar * gain / s
        residual_bar = residual_bar + residual / s
        # residual = y - m
        m_bar = m_bar - residual_bar
        # gain = p / s
        p_bar = p_bar + gain_bar / s
        # s = p + r
        p_bar = p_bar + s_bar
        r_bar = r_bar + s_bar
        # m, p = a * m, a * a * p + q
        q_bar = q_bar + p_bar
        t_bar = p_bar * p_1
        p_bar = p_bar * a * a
        a_bar = a_bar + t_bar * a
        a_bar = a_bar + t_bar * a
        a_bar = a_bar + m_bar * m
        m_bar = m_bar * a
    return a_bar, q_bar, r_bar
