"""The closed vocabulary of outcomes. A failed attempt is a row with one of these and a reason."""

from __future__ import annotations

OK = "ok"
TIMEOUT = "timeout"
TOOL_ERROR = "tool_error"
INFEASIBLE = "infeasible"
REJECTED = "rejected"

STATUSES = (OK, TIMEOUT, TOOL_ERROR, INFEASIBLE, REJECTED)


def is_lasting(status: str) -> bool:
    """Whether an outcome follows from its inputs, so that another attempt gives the same.

    A `timeout` is of processor time, cycles or steps. A `tool_error` may be the machine's fault: no space, no
    memory, a killed tool, too much elapsed time. This is the one place that decides what may be cached.
    """
    return status in (OK, TIMEOUT, INFEASIBLE, REJECTED)
