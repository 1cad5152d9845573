"""Functions that run checkpointed loops in derived text and keep states for the backward sweep."""

from __future__ import annotations

from typing import Any

from s2sad.runtime import private


def runs_rounds(fn: object) -> bool:
    """Return whether a function runs the iterations of a checkpointed loop."""
    return fn is run_checkpointed or fn is run_until


def run_checkpointed(body: Any, steps: Any, snapshots: Any, state: Any) -> Any:
    """Run `state = body(step, *state)`; return the last state, and states for the backward sweep.

    All these states are copies, because a body may return arrays that it captures.
    """
    from checkpoint_schedules import EndForward, MultistageCheckpointSchedule

    state = private(state)
    kept: dict[Any, Any] = {"start": state}
    for action in MultistageCheckpointSchedule(len(steps), snapshots, 0):
        if isinstance(action, EndForward):
            break
        if action.write_ics or action.write_adj_deps:
            mine = private(state) if action.n0 else state
            kept["last" if action.write_adj_deps else action.n0] = mine
        for n in range(action.n0, action.n1):
            state = body(steps[n], *state)
    return private(state), kept


def run_until(body: Any, steps: Any, snapshots: Any, period: Any, state: Any) -> Any:
    """Run `state = body(step, *state)` until a state ends with True; return the last state.

    Also return the number of iterations, and the state at the beginning of each period.
    """
    state = private(state)
    kept: dict[Any, Any] = {}
    count = 0
    for step in steps:
        if count % period == 0:
            kept[count] = private(state) if count else state
        state = body(step, *state)
        count += 1
        if state[-1]:
            break
    return private(state), (count, kept)
