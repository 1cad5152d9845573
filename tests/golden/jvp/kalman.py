import math


def kalman_jvp(a, q, r, observed, a_dot, q_dot, r_dot):
    """Value and tangent of kalman (kalman.py), given the tangents of a, q and r."""
    m = 0.0
    p = 1.0
    nll = 0.0
    nll_dot = 0.0
    m_dot = 0.0
    p_dot = 0.0
    for y in observed:
        t_dot = a_dot * m + m_dot * a
        m = a * m
        t = a * a
        p_dot = 2.0 * a_dot * a * p + p_dot * t + q_dot
        p = t * p + q
        s = p + r
        s_dot = p_dot + r_dot
        gain = p / s
        gain_dot = p_dot / s - s_dot * gain / s
        residual = y - m
        residual_dot = -t_dot
        t = 2.0 * math.pi
        t_1 = t * s
        t_2 = residual**2 / s
        nll += 0.5 * (math.log(t_1) + t_2)
        nll_dot = nll_dot + 0.5 * (
            s_dot * t / t_1 + 2.0 * residual_dot * residual / s - s_dot * t_2 / s
        )
        m += gain * residual
        m_dot = t_dot + gain_dot * residual + residual_dot * gain
        t = 1.0 - gain
        p_dot = p_dot * t - gain_dot * p
        p *= t
    return nll, nll_dot
