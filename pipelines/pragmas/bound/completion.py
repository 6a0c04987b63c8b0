"""The completion of a configuration by tools, from which bounds follow.

Source: NLP-DSE section 4.1 (Vitis and Merlin optimisations) and equations 5 to 8.
"""

from __future__ import annotations

from dataclasses import replace

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import ROOT, Loop, Summary


def complete(summary: Summary, configuration: Configuration, target: Target | None = None) -> Configuration:
    """Return the configuration with all that tools add or ignore.

    Args:    target: whose tool may unroll loops by itself; None: none does.
    Returns: a choice for every loop. FINE: it is pipelined and all loops inside have `unroll` of their trip
        count; a loop whose own factor is its trip count, as all inside, is straight-line code; COARSE and OFF
        are left to loops above.
    Raises:  PragmaError: a loop that the program has not, an unknown pipeline, a factor below 1.
    """
    _check(summary, configuration)
    chosen: dict[str, LoopChoice] = {}
    for name in summary.child_loops(ROOT):
        _complete_loop(summary, configuration, target, name, chosen)
    ordered = {name: chosen[name] for name in summary.loops}
    return Configuration(loops=ordered, caches=configuration.caches)


def fully_unrolled(loop: Loop, choice: LoopChoice) -> bool:
    """Tell whether a loop is unrolled fully."""
    return loop.constant and choice.unroll >= loop.trip_count_max


def straight_inside(summary: Summary, completed: Configuration, name: str) -> bool:
    """Tell whether all loops inside a loop are unrolled fully."""
    return all(
        fully_unrolled(summary.loops[c], completed.of(c)) and straight_inside(summary, completed, c)
        for c in summary.child_loops(name)
    )


def _check(summary: Summary, configuration: Configuration) -> None:
    for name, choice in configuration.loops.items():
        where = f"{summary.top}:{summary.loops[name].line if name in summary.loops else 1}"
        if name not in summary.loops:
            known = ", ".join(summary.loops) or "none"
            raise PragmaError(f"unknown loop: {name} ({where}); loops of {summary.top}: {known}")
        if choice.pipeline not in (OFF, COARSE, FINE):
            raise PragmaError(f"unknown pipeline: {choice.pipeline} ({where}); accepted: off, coarse, fine")
        if min(choice.unroll, choice.tile, choice.interval) < 1:
            least = min(choice.unroll, choice.tile, choice.interval)
            raise PragmaError(f"unroll, tile or interval {least} of {name} ({where}); accepted: 1 or more")


def _complete_loop(
    summary: Summary,
    configuration: Configuration,
    target: Target | None,
    name: str,
    chosen: dict[str, LoopChoice],
) -> None:
    """Complete a loop that is not inside a pipelined one, after the loops inside it."""
    loop, choice = summary.loops[name], configuration.of(name)
    inside = summary.loops_inside(name)
    if choice.pipeline == FINE and all(summary.loops[i].constant for i in inside):
        for i in inside:
            chosen[i] = replace(configuration.of(i), pipeline=OFF, unroll=summary.loops[i].trip_count_max)
        chosen[name] = replace(choice, pipeline=FINE, unroll=inner_unroll(loop, choice.unroll))
        return
    for child in summary.child_loops(name):
        _complete_loop(summary, configuration, target, child, chosen)
    if not straight_inside(summary, Configuration(loops=chosen), name):
        kept = OFF if choice.pipeline == FINE else choice.pipeline
        copies = choice.unroll if has_copies(summary, configuration, name, target) else 1
        chosen[name] = replace(choice, pipeline=kept, unroll=max(1, min(copies, loop.trip_count_max)))
        return
    asked = _requests_full_unroll(loop, choice)
    whole = asked or (target is not None and _unrolled_by_tool(summary, name, choice, target))
    unroll = loop.trip_count_max if whole else inner_unroll(loop, choice.unroll)
    chosen[name] = replace(choice, pipeline=OFF if whole else FINE, unroll=unroll)


def _requests_full_unroll(loop: Loop, choice: LoopChoice) -> bool:
    """Tell whether a loop that is no pipeline is asked to be unrolled fully.

    A factor that goes once into the trip count leaves a loop of one trip and a remainder: straight-line code.
    """
    trips = loop.trip_count_max
    enough = choice.unroll >= trips or (trips // choice.unroll == 1 and loop.distance is None)
    return loop.constant and enough and choice.pipeline != FINE


def _unrolled_by_tool(summary: Summary, name: str, choice: LoopChoice, target: Target) -> bool:
    """Tell whether tools may unroll a loop without directives whose loops inside are all unrolled.

    Source: UG1399 (2020.2), config_compile -pipeline_loops: an innermost loop of at most 64 trips is not
        pipelined but its parent is, which unrolls it; a loop without a parent is pipelined.
    """
    loop = summary.loops[name]
    nothing_asked = choice.automatic and choice.pipeline == OFF and choice.tile in (1, loop.trip_count_max)
    small = loop.constant and loop.trip_count_max <= target.unrolled_trips
    return (
        nothing_asked
        and small
        and loop.parent is not None
        and _copies(summary, name) <= target.unrolled_copies
    )


def _copies(summary: Summary, name: str) -> int:
    """Return the copies of the innermost statement when a loop and all inside are unrolled."""
    inner = max((_copies(summary, c) for c in summary.child_loops(name)), default=1)
    return summary.loops[name].trip_count_max * inner


def inner_unroll(loop: Loop, unroll: int) -> int:
    """Return copies of a pipelined loop's body that may run at once (equation 8; rule 3 of decision 012)."""
    unroll = max(1, min(unroll, loop.trip_count_max))
    return unroll if loop.distance is None else min(unroll, loop.distance)


def has_copies(
    summary: Summary, configuration: Configuration, name: str, target: Target | None = None
) -> bool:
    """Tell whether a factor makes copies of a body that has loops (theorem 6.16); else it is ignored.

    A parallel loop has copies, whole modules, unless trip counts inside it vary: copies run in step. A target
    with `varying_copies` copies these too, where their bounds do not mention the loop. So has a reduction in
    a perfect nest whose inner loop is partially unrolled too: tools swap the strips of the two loops and
    unroll both inside (section 4.1), which they do when both factors divide their trip counts.

    Args: target: whose tool may make modules of outermost loops alone, or swap no strips; None: of all, and
        it does.
    """
    loop = summary.loops[name]
    outermost = loop.parent is None or target is None or not target.outermost_copies
    varying = [i for i in summary.loops_inside(name) if not summary.loops[i].constant]
    if varying and (target is None or not target.varying_copies):
        return False
    if any(name in summary.loops[i].bounded_by for i in varying):
        return False  # loops of other headers are no one loop
    if loop.parallel and outermost:
        return True
    if varying:
        return False
    swaps = target is None or target.swapped_nests
    if not (swaps and flattened(summary, name) and (loop.parallel or loop.reduction)):
        return False
    child = summary.child_loops(name)[0]
    inner = summary.loops[child]
    partial = 1 < configuration.of(child).unroll <= inner.trip_count_max
    return partial and _divides(configuration, inner) and _divides(configuration, loop)


def _divides(configuration: Configuration, loop: Loop) -> bool:
    return loop.constant and loop.trip_count_max % configuration.of(loop.name).unroll == 0


def flattened(summary: Summary, name: str) -> bool:
    """Tell whether tools may make one pipeline of a loop and the one loop in its body (perfect nests)."""
    children = summary.children(name)
    return len(children) == 1 and isinstance(children[0], str)
