"""What tools make of a configuration by themselves: the completed configuration, from which bounds follow.

Belongs here: the rules of decision 012. Does not: what the completed configuration costs.

Source: NLP-DSE section 4.1 (Vitis and Merlin optimisations) and equations 5 to 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import ROOT, Loop, Summary


def complete(summary: Summary, configuration: Configuration) -> Configuration:
    """The configuration with what the tools add or ignore.

    Returns: a choice for every loop. FINE: it is pipelined and all loops inside have `unroll` of their trip
        count; a loop whose own factor is its trip count, as all inside, is straight-line code; COARSE and OFF
        are left to loops above.
    Raises:  PragmaError: a loop that the program has not, an unknown pipeline, a factor below 1.
    """
    _check(summary, configuration)
    chosen: dict[str, LoopChoice] = {}
    for name in child_loops(summary, ROOT):
        _complete_loop(summary, configuration, name, chosen)
    ordered = {name: chosen[name] for name in summary.loops}
    return Configuration(loops=ordered, caches=configuration.caches)


def child_loops(summary: Summary, place: str) -> Iterator[str]:
    """Loops directly in a body."""
    return (c for c in summary.children(place) if isinstance(c, str))


def fully_unrolled(loop: Loop, choice: LoopChoice) -> bool:
    """Whether nothing of a loop is left to iterate."""
    return loop.constant and choice.unroll >= loop.trip_count_max


def straight_inside(summary: Summary, completed: Configuration, name: str) -> bool:
    """Whether all loops inside a loop are unrolled fully."""
    return all(
        fully_unrolled(summary.loops[c], completed.of(c)) and straight_inside(summary, completed, c)
        for c in child_loops(summary, name)
    )


def _check(summary: Summary, configuration: Configuration) -> None:
    for name, choice in configuration.loops.items():
        where = f"{summary.top}:{summary.loops[name].line if name in summary.loops else 1}"
        if name not in summary.loops:
            known = ", ".join(summary.loops) or "none"
            raise PragmaError(
                f"directives must name loops of {summary.top}, got {name} ({where}); it has {known}"
            )
        if choice.pipeline not in (OFF, COARSE, FINE):
            raise PragmaError(f"a pipeline must be off, coarse or fine, got {choice.pipeline!r} ({where})")
        if min(choice.unroll, choice.tile, choice.interval) < 1:
            least = min(choice.unroll, choice.tile, choice.interval)
            raise PragmaError(
                f"unroll, tile and interval of {name} must be at least 1, got {least} ({where})"
            )


def _complete_loop(
    summary: Summary, configuration: Configuration, name: str, chosen: dict[str, LoopChoice]
) -> None:
    """Complete a loop that is not inside a pipelined one, after the loops inside it."""
    loop, choice = summary.loops[name], configuration.of(name)
    inside = summary.loops_inside(name)
    if choice.pipeline == FINE and all(summary.loops[i].constant for i in inside):
        for i in inside:
            chosen[i] = replace(configuration.of(i), pipeline=OFF, unroll=summary.loops[i].trip_count_max)
        chosen[name] = replace(choice, pipeline=FINE, unroll=inner_unroll(loop, choice.unroll))
        return
    for child in child_loops(summary, name):
        _complete_loop(summary, configuration, child, chosen)
    if not straight_inside(summary, Configuration(loops=chosen), name):
        kept = OFF if choice.pipeline == FINE else choice.pipeline
        chosen[name] = replace(choice, pipeline=kept, unroll=outer_unroll(loop, choice.unroll))
        return
    whole = loop.constant and choice.unroll >= loop.trip_count_max and choice.pipeline != FINE
    unroll = loop.trip_count_max if whole else inner_unroll(loop, choice.unroll)
    chosen[name] = replace(choice, pipeline=OFF if whole else FINE, unroll=unroll)


def inner_unroll(loop: Loop, unroll: int) -> int:
    """Copies of a pipelined loop's body that may run at once (equation 8; rule 3 of decision 012)."""
    unroll = max(1, min(unroll, loop.trip_count_max))
    return unroll if loop.distance is None else min(unroll, loop.distance)


def outer_unroll(loop: Loop, unroll: int) -> int:
    """Copies of a loop's body that may run at once when it has loops (theorem 6.16): parallel ones alone."""
    return max(1, min(unroll, loop.trip_count_max)) if loop.parallel else 1
