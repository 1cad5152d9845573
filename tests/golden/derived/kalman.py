import math


def kalman_grad(a, q, r, observed):
    """Gradient of kalman (kalman.py) with respect to a, q and r."""
    m = 0.0
    p = 1.0
    saved = []
    for y in observed:
        m_0 = a * m
        p_0 = a * a * p + q
        s = p_0 + r
        gain = p_0 / s
        residual = y - m_0
        m_0 += gain * residual
        t = 1.0 - gain
        saved.append((t, p_0, residual, gain, residual**2 / s, 2.0 * math.pi * s, p, m))
        p = p_0
        p *= t
        m = m_0

    a_bar = 0.0
    q_bar = 0.0
    r_bar = 0.0
    m_bar = 0.0
    p_bar = 0.0
    while saved:
        t, p, residual, gain, t_1, t_2, p_0, m = saved.pop()
        # m += gain * residual
        gain_bar = m_bar * residual - p_bar * p
        # nll += 0.5 * (math.log(2.0 * math.pi * s) + residual**2 / s)
        s = p + r
        # residual = y - m
        m_bar = m_bar - m_bar * gain - residual / s
        # gain = p / s
        s_bar = math.pi / t_2 - 0.5 * t_1 / s - gain_bar * gain / s
        # s = p + r
        p_bar = p_bar * t + gain_bar / s + s_bar
        r_bar = r_bar + s_bar
        # m, p = a * m, a * a * p + q
        q_bar = q_bar + p_bar
        t_bar = p_bar * p_0
        p_bar = p_bar * a * a
        t = m_bar * m
        m_bar = m_bar * a
        a_bar = a_bar + 2.0 * t_bar * a + t
    return a_bar, q_bar, r_bar
