"""The derivative of the loss in examples/lynx_hare.py, by hand, the step control included."""

import numpy as np


def rhs(state, params):
    """Rates of change: hares breed and are eaten, lynx starve and eat."""
    hare, lynx = state
    birth, eaten, death, fed = params
    return np.array([hare * (birth - eaten * lynx), lynx * (fed * hare - death)])


def rhs_reverse(state, params, rates_bar):
    """Cotangents of rhs's state and params."""
    hare, lynx = state
    birth, eaten, death, fed = params
    # return np.array([hare * (birth - eaten * lynx), lynx * (fed * hare - death)])
    hare_rate_bar, lynx_rate_bar = rates_bar
    birth_bar = hare_rate_bar * hare
    death_bar = -lynx_rate_bar * lynx
    hare_bar = hare_rate_bar * (birth - eaten * lynx) - death_bar * fed
    lynx_bar = lynx_rate_bar * (fed * hare - death) - birth_bar * eaten
    state_bar = np.array([hare_bar, lynx_bar])
    params_bar = np.array([birth_bar, -birth_bar * lynx, death_bar, -death_bar * hare])
    return state_bar, params_bar


def rk_step_forward(state, slope, h, params):
    """rk_step, and what rk_step_reverse reads."""
    state2 = state + 0.5 * h * slope
    k2 = rhs(state2, params)
    state3 = state + 0.75 * h * k2
    k3 = rhs(state3, params)
    sum_new = 2.0 * slope + 3.0 * k2 + 4.0 * k3
    new = state + h / 9.0 * sum_new
    k4 = rhs(new, params)
    sum_error = 6.0 * k2 + 8.0 * k3 - 5.0 * slope - 9.0 * k4
    error = h / 72.0 * sum_error
    return (new, k4, error), (slope, h, state2, k2, state3, sum_new, new, sum_error)


def rk_step_reverse(saved, params, new_bar, k4_bar, error_bar):
    """Cotangents of rk_step's state, slope, h and params."""
    slope, h, state2, k2, state3, sum_new, new, sum_error = saved
    # error = h / 72.0 * (6.0 * k2 + 8.0 * k3 - 5.0 * slope - 9.0 * k4)
    h_bar = np.dot(error_bar, sum_error) / 72.0
    t_bar = h / 72.0 * error_bar
    k2_bar = 6.0 * t_bar
    k3_bar = 8.0 * t_bar
    slope_bar = -5.0 * t_bar
    k4_bar = k4_bar - 9.0 * t_bar
    # k4 = rhs(new, params)
    rhs_bar, params_bar = rhs_reverse(new, params, k4_bar)
    state_bar = new_bar + rhs_bar
    # new = state + h / 9.0 * (2.0 * slope + 3.0 * k2 + 4.0 * k3)
    h_bar = h_bar + np.dot(state_bar, sum_new) / 9.0
    t_bar = h / 9.0 * state_bar
    slope_bar += 2.0 * t_bar
    k2_bar += 3.0 * t_bar
    k3_bar += 4.0 * t_bar
    # k3 = rhs(state + 0.75 * h * k2, params)
    state3_bar, rhs_params_bar = rhs_reverse(state3, params, k3_bar)
    params_bar += rhs_params_bar
    state_bar += state3_bar
    h_bar = h_bar + 0.75 * np.dot(state3_bar, k2)
    k2_bar += 0.75 * h * state3_bar
    # k2 = rhs(state + 0.5 * h * slope, params)
    state2_bar, rhs_params_bar = rhs_reverse(state2, params, k2_bar)
    params_bar += rhs_params_bar
    state_bar += state2_bar
    h_bar = h_bar + 0.5 * np.dot(state2_bar, slope)
    slope_bar += 0.5 * h * state2_bar
    return state_bar, slope_bar, h_bar, params_bar


def solve_forward(start, params, times, tolerance):
    """solve, and what solve_reverse reads."""
    t = times[0]
    h = 0.1
    state = start
    slope = rhs(state, params)
    states = [state]
    saved = []
    saved_rounds = []
    for target in times[1:]:
        rounds = 0
        while t < target:
            rounds += 1
            if h < 1e-9:
                raise ArithmeticError(f"the step became too short at time {t}")
            arrives = t + 1.1 * h >= target
            step = target - t if arrives else h
            (new, new_slope, error), step_saved = rk_step_forward(state, slope, step, params)
            scale = 1.0 + np.abs(new)
            scaled = np.abs(error) / scale
            top = np.max(scaled)
            ratio = top / tolerance
            saved.append((arrives, step, step_saved, new, error, scale, scaled, top, ratio))
            h = step * max(0.2, 0.9 * max(ratio, 0.001) ** (-1.0 / 3.0))
            if ratio > 1.0:
                continue
            t = target if arrives else t + step
            state = new
            slope = new_slope
        saved_rounds.append(rounds)
        states.append(state)
    return states, (start, saved, saved_rounds)


def solve_reverse(solve_saved, params, times, tolerance, states_bar):
    """Cotangents of solve's start and params."""
    start, saved, saved_rounds = solve_saved
    params_bar = np.zeros(4)
    state_bar = np.zeros(2)
    slope_bar = np.zeros(2)
    nothing = np.zeros(2)
    h_bar = 0.0
    t_bar = 0.0
    for i in range(len(times) - 1, 0, -1):
        # states.append(state)
        state_bar = state_bar + states_bar[i]
        for _ in range(saved_rounds.pop()):
            arrives, step, step_saved, new, error, scale, scaled, top, ratio = saved.pop()
            step_bar = 0.0
            new_bar = new_slope_bar = nothing
            accepted = not ratio > 1.0
            if accepted:
                # slope = new_slope
                new_slope_bar = slope_bar
                # state = new
                new_bar = state_bar
                # t = target if arrives else t + step
                if arrives:
                    t_bar = 0.0
                else:
                    step_bar = t_bar
            # h = step * max(0.2, 0.9 * max(ratio, 0.001) ** (-1.0 / 3.0))
            factor = 0.9 * max(ratio, 0.001) ** (-1.0 / 3.0)
            step_bar = step_bar + h_bar * max(0.2, factor)
            error_bar = nothing
            if ratio > 0.001 and factor > 0.2:
                ratio_bar = -h_bar * step * factor / (3.0 * ratio)
                # ratio = np.max(np.abs(error) / (1.0 + np.abs(new))) / tolerance
                largest = scaled == top
                scaled_bar = ratio_bar / (tolerance * np.count_nonzero(largest)) * largest / scale
                error_bar = scaled_bar * np.sign(error)
                new_bar = new_bar - scaled_bar * scaled * np.sign(new)
            # new, new_slope, error = rk_step(state, slope, step, params)
            rk_state_bar, rk_slope_bar, rk_step_bar, rk_params_bar = rk_step_reverse(
                step_saved, params, new_bar, new_slope_bar, error_bar
            )
            params_bar += rk_params_bar
            step_bar = step_bar + rk_step_bar
            if accepted:
                state_bar = rk_state_bar
                slope_bar = rk_slope_bar
            else:
                state_bar = state_bar + rk_state_bar
                slope_bar = slope_bar + rk_slope_bar
            # step = target - t if arrives else h
            if arrives:
                t_bar = t_bar - step_bar
                h_bar = 0.0
            else:
                h_bar = step_bar
    # states = [state]
    state_bar = state_bar + states_bar[0]
    # slope = rhs(state, params)
    start_bar, rhs_params_bar = rhs_reverse(start, params, slope_bar)
    params_bar += rhs_params_bar
    return state_bar + start_bar, params_bar


def loss_value_and_grad(log_params, times, pelts, tolerance):
    """Value of loss (lynx_hare.py:60) and its gradient with respect to log_params."""
    params = np.exp(log_params)
    rates = params[:4]
    states, solve_saved = solve_forward(params[4:], rates, times, tolerance)
    table = np.array(states)
    residual = np.log(table) - np.log(pelts)
    value = np.mean(residual**2)

    # return np.mean(residual**2)
    residual_bar = 2.0 / residual.size * residual
    # residual = np.log(np.array(states)) - np.log(pelts)
    states_bar = residual_bar / table
    # states = solve(params[4:], params[:4], times, tolerance)
    start_bar, rates_bar = solve_reverse(solve_saved, rates, times, tolerance, states_bar)
    params_bar = np.concatenate((rates_bar, start_bar))
    # params = np.exp(log_params)
    return value, params_bar * params
