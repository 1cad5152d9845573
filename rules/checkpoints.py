"""Loops that keep a few states and run iterations again in the backward sweep.

The order follows MultistageCheckpointSchedule of checkpoint_schedules: Griewank and Walther,
Algorithm 799: revolve, 2000. If the number of iterations is unknown, it follows
TwoLevelCheckpointSchedule: one state for each period, and revolve within each period.
"""

from s2sad.emitted.replay import run_checkpointed, run_until
from s2sad.registry import pullback
from s2sad.runtime import add, private


@pullback(
    run_checkpointed,
    calls={"body": "body(int, *out[0])"},
    result=lambda body, steps, snapshots, state: (state, None),
)
def pull_run_checkpointed(out_bar, out, body, steps, snapshots, state):
    from checkpoint_schedules import (
        EndForward,
        EndReverse,
        Forward,
        Move,
        MultistageCheckpointSchedule,
        Reverse,
    )

    state_bar, captured_bar, kept = out_bar[0], None, dict(out[1])
    out[1].clear()  # what is not needed any more is let go; a second call begins from the start
    out[1]["start"] = state = kept["start"]
    again, back = "last" not in kept, False
    for action in MultistageCheckpointSchedule(len(steps), snapshots, 0):
        if isinstance(action, EndForward):
            state, back = kept.pop("last"), True
            _, pull = body(steps[-1], *state)
        elif not back and not again:
            continue
        elif isinstance(action, Forward):
            if action.write_ics or (action.write_adj_deps and not back):
                mine = private(state) if action.n0 else state
                kept[action.n0 if action.write_ics else "last"] = mine
            for n in range(action.n0, action.n1):
                state, pull = body(steps[n], *state)
        elif isinstance(action, Reverse):
            _, *parts, more = pull(tuple(state_bar))
            state_bar, captured_bar = tuple(parts), add(captured_bar, more)
        elif isinstance(action, EndReverse):
            break
        elif isinstance(action, Move):
            state = kept.pop(action.n)
        else:
            state = kept[action.n]
    return captured_bar, None, None, state_bar


@pullback(
    run_until,
    calls={"body": "body(int, *out[0])"},
    result=lambda body, steps, snapshots, period, state: (state, None),
)
def pull_run_until(out_bar, out, body, steps, snapshots, period, state):
    from checkpoint_schedules import (
        EndForward,
        EndReverse,
        Forward,
        Move,
        Reverse,
        TwoLevelCheckpointSchedule,
    )

    count, kept = out[1]
    state_bar, captured_bar, kept = out_bar[0], None, dict(kept)
    schedule = TwoLevelCheckpointSchedule(period, snapshots)
    for action in schedule:
        if schedule.max_n is None:
            if action.n1 >= count:
                schedule.finalize(count)
        elif isinstance(action, Forward):
            if action.write_ics:
                kept[action.n0] = private(state)
            for n in range(action.n0, action.n1):
                state, pull = body(steps[n], *state)
        elif isinstance(action, Reverse):
            _, *parts, more = pull(tuple(state_bar))
            state_bar, captured_bar = tuple(parts), add(captured_bar, more)
        elif isinstance(action, EndReverse):
            break
        elif isinstance(action, Move):
            state = kept.pop(action.n)
        elif not isinstance(action, EndForward):
            state = kept[action.n]
    return captured_bar, None, None, None, state_bar
