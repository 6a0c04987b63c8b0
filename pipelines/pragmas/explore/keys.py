"""When two configurations are the same."""

from __future__ import annotations

import json
from typing import Any

from pipelines.identity import canonical_json
from pipelines.pragmas.configuration import Configuration, LoopChoice


def configuration_key(configuration: Configuration) -> str:
    """Canonical JSON of a configuration: equal ones have equal texts; loops without a choice are left out.

    Returns: `{"caches": null or [[loop, array], ...], "loops": {name: [pipeline, interval, unroll, tile]}}`
    """
    loops = {
        name: [choice.pipeline, choice.interval, choice.unroll, choice.tile]
        for name, choice in configuration.loops.items()
        if choice != LoopChoice()
    }
    caches = None if configuration.caches is None else sorted(map(list, configuration.caches))
    return canonical_json({"loops": loops, "caches": caches})


def configuration_of_key(text: str) -> Configuration:
    """The configuration of a canonical text that `configuration_key` wrote."""
    read: dict[str, Any] = json.loads(text)
    loops = {
        name: LoopChoice(pipeline=pipeline, interval=interval, unroll=unroll, tile=tile)
        for name, (pipeline, interval, unroll, tile) in read["loops"].items()
    }
    caches = None if read["caches"] is None else tuple((loop, array) for loop, array in read["caches"])
    return Configuration(loops=loops, caches=caches)
