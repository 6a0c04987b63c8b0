"""Between configurations and the options of a space."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.pragmas.bound import Target, complete, leaf
from pipelines.pragmas.bound.completion import child_loops, fully_unrolled, straight_inside
from pipelines.pragmas.configuration import FINE, Configuration, LoopChoice
from pipelines.pragmas.program.space import ABOVE, INSIDE, LEAVES, PIPELINED, STRAIGHT, Design, Key, Space
from pipelines.pragmas.summary import ROOT, Summary


def design_of(summary: Summary, configuration: Configuration, target: Target) -> Design:
    """State and copies of each loop, once tools have completed a configuration."""
    wanted: dict[str, Key] = {}
    completed = complete(summary, configuration, target)
    for loop in child_loops(summary, ROOT):
        _walk(summary, completed, loop, target, wanted)
    return wanted


def encode(space: Space, design: Design, asked: Configuration) -> dict[str, int] | None:
    """The index of each loop's option, None when a design is not in the space.

    Args: asked: the configuration it is of; of options that make the same, the one with its factor.
    """
    found: dict[str, int] = {}
    for loop, key in design.items():
        same = [index for index, option in enumerate(space.options[loop]) if option.key == key]
        if not same:
            return None
        wanted = asked.of(loop).unroll
        found[loop] = next((i for i in same if space.options[loop][i].unroll == wanted), same[0])
    return found


def decode(
    space: Space, options: Mapping[str, int], caches: tuple[tuple[str, str], ...] | None
) -> Configuration:
    """The configuration of a design: what has to be asked for, not what tools do by themselves."""
    chosen: dict[str, LoopChoice] = {}
    straight = {loop for loop, index in options.items() if space.options[loop][index].state == STRAIGHT}
    for loop, index in options.items():
        option = space.options[loop][index]
        asked = option.state != INSIDE or not straight.isdisjoint(space.loops_around(loop))
        if option.state == PIPELINED:
            chosen[loop] = LoopChoice(pipeline=FINE, unroll=option.unroll, interval=option.asked)
        elif asked and option.unroll > 1:
            chosen[loop] = LoopChoice(unroll=option.unroll)
    return Configuration(loops=chosen, caches=caches)


def _walk(
    summary: Summary, completed: Configuration, name: str, target: Target, wanted: dict[str, Key]
) -> None:
    choice = completed.of(name)
    if choice.pipeline == FINE:
        found = leaf(summary, name, choice.unroll, target, choice.interval)
        wanted[name] = (PIPELINED, choice.unroll, found.interval_cycles)
    elif fully_unrolled(summary.loops[name], choice) and straight_inside(summary, completed, name):
        wanted[name] = (STRAIGHT, choice.unroll, 1)
    else:
        wanted[name] = (ABOVE, choice.unroll, 1)
    if wanted[name][0] in LEAVES:
        for loop in summary.loops_inside(name):
            wanted[loop] = (INSIDE, summary.loops[loop].trip_count_max, 1)
        return
    for child in child_loops(summary, name):
        _walk(summary, completed, child, target, wanted)
