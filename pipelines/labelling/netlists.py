"""Logic synthesis of a design, done once for each distinct Verilog, library and version.

Designs that differ in what logic synthesis does not see (data, the library's clock, delays that leave the
Verilog alone) share one entry; of two that ask at a time, one waits for the other.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol

from pipelines import synthesis
from pipelines.cache import ContentCache
from pipelines.identity import canonical_json, content_hash
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.scratch import tool_folder
from pipelines.schemas import OK, DesignRow
from pipelines.synthesis import (
    Netlist,
    SynthesisError,
    SynthesisResult,
    Target,
    liberty_hash,
    netlist_record,
    read_netlist_record,
    synthesize_design,
    tool_version,
)

SYNTHESIS_TOOL = synthesis.TOOL
_FIELDS = "fields-2"  # raise when a label row gets other fields from here


class HasVerilog(Protocol):
    """A design as text."""

    @property
    def verilog(self) -> str:
        """The whole text."""
        ...

    @property
    def module(self) -> str:
        """Name of the top module."""
        ...


def synthesis_key(design: DesignRow, target: Target, options: LabelOptions) -> str:
    """What logic synthesis of a design depends on."""
    return content_hash(netlist_key(design, target), options.synthesis_timeout_s, _FIELDS)


def netlist_key(design: DesignRow, target: Target) -> str:
    """What the mapped netlist of a design depends on, once it is made."""
    return content_hash(design.rtl_sha256, liberty_hash(target.liberty), tool_version())


def attempt_synthesis(
    design: DesignRow,
    rtl: Callable[[], HasVerilog],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> dict[str, Any]:
    """Area, flip-flops, cells, delay and leakage of a design's Verilog, as fields of a label row.

    Raises: SynthesisError: the library cannot be read. HlsError: the Verilog cannot be made again.
    """
    key = synthesis_key(design, target, options)
    with _only_one(cache, key):
        stored = cache.get("synthesis", key)
        return stored if stored is not None else _synthesise(design, rtl, key, target, cache, options)[0]


def mapped_netlist(
    design: DesignRow,
    rtl: Callable[[], HasVerilog],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> Netlist:
    """The netlist of a design that logic synthesis has labelled, made again when the cache lost it.

    Raises: SynthesisError: it cannot be made, or the library cannot be read.
    """
    kept = cache.get("netlist", netlist_key(design, target))
    if kept is None:
        key = synthesis_key(design, target, options)
        with _only_one(cache, key):
            fields, kept = _synthesise(design, rtl, key, target, cache, options)
        if kept is None:
            raise SynthesisError(f"a netlist must be made again, got {fields['status']}: {fields['reason']}")
    return read_netlist_record(kept)


@contextmanager
def _only_one(cache: ContentCache, key: str) -> Generator[None]:
    """Keep other threads and processes from working on the same key."""
    path = cache.folder / "locks" / key[:2]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed
        yield


def _synthesise(
    design: DesignRow,
    rtl: Callable[[], HasVerilog],
    key: str,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Fields of a label row, and the netlist's record when it was made; both are kept."""
    text = rtl()
    with tool_folder(cache, "synthesis", options) as folder:
        result = synthesize_design(
            text.verilog,
            top=text.module,
            target=target,
            folder=folder,
            timeout_s=options.synthesis_timeout_s,
        )
    fields = _fields(result)
    record = None if result.netlist is None else netlist_record(result.netlist)
    if record is not None:
        cache.put("netlist", netlist_key(design, target), record)
    there = cache.get("synthesis", key)
    if there is None or there["status"] != OK:
        cache.keep("synthesis", key, fields, result.status)
    return fields, record


def _fields(result: SynthesisResult) -> dict[str, Any]:
    ok = result.status == OK
    return {
        "status": result.status,
        "reason": result.reason,
        "area_um2": result.area_um2,
        "flip_flop_count": result.flip_flop_count,
        "cell_count": result.cell_count,
        "cells_by_type": canonical_json(result.cells_by_type) if ok else None,
        "delay_ns": result.delay_ns,
        "leakage_mw": result.leakage_mw,
        "synthesis_wall_s": result.wall_s,
    }
