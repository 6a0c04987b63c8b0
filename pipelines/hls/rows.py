"""Compiled designs as rows of the `designs` and `directive_outcomes` tables."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pipelines.base.identity import canonical_json, content_hash, text_sha256
from pipelines.c.directives import directives_json, parse_directives
from pipelines.c.engine import TOOL, tool_version
from pipelines.hls.compiler import CompiledDesign, HlsOptions
from pipelines.hls.design import reads_inputs
from pipelines.hls.operators import delay_library, later_delays
from pipelines.hls.plan import TransformOptions
from pipelines.hls.rules import later_rules
from pipelines.schemas import OK, DesignRow, DirectiveOutcomeRow, ProgramRow


def design_id(program: ProgramRow, options: HlsOptions) -> str:
    """Return hash of the program, the configuration, and the version of this engine with its later rules.

    Measured delays of another library than the default count, too.
    """
    configuration = {
        "directives": directives_json(options.directives),
        "memory_read_delay_cycles": options.memory_read_delay_cycles,
        "memory_write_delay_cycles": options.memory_write_delay_cycles,
        "clock_period_ns": options.clock_period_ns,
        "liberty": options.liberty,
        "engine_options": engine_options_json(options),
    }
    later = (*program_rules(program), *later_delays(options.liberty))
    return content_hash(program.program_id, configuration, TOOL, tool_version(), *later)


def program_rules(program: ProgramRow) -> tuple[str, ...]:
    """Return what a program's designs depend on beside this engine's version; see `later_rules`."""
    return later_rules(program.source, program.top)


def engine_options_json(options: HlsOptions) -> str:
    """Return the options of the engine, as canonical JSON."""
    return canonical_json({**asdict(options.transforms), "unit_limits": dict(options.unit_limits)})


def options_of(row: DesignRow) -> HlsOptions:
    """Return the configuration of a design row."""
    engine: dict[str, Any] = json.loads(row.engine_options)
    limits: dict[str, int] = engine.pop("unit_limits")
    return HlsOptions(
        memory_read_delay_cycles=row.memory_read_delay_cycles,
        memory_write_delay_cycles=row.memory_write_delay_cycles,
        directives=parse_directives(row.directives),
        clock_period_ns=row.clock_period_ns,
        liberty=row.liberty,
        transforms=TransformOptions(**engine),
        unit_limits=tuple(sorted(limits.items())),
    )


def design_row(
    program: ProgramRow,
    options: HlsOptions,
    outcome: CompiledDesign | tuple[str, str],
    wall_s: float,
) -> DesignRow:
    """Return the row of an attempted design.

    Args:    outcome: the design, or the status and reason of the failure; wall_s: time it took, seconds.
    """
    compiled = outcome if isinstance(outcome, CompiledDesign) else None
    status, reason = (OK, None) if isinstance(outcome, CompiledDesign) else outcome
    report = compiled.report if compiled else None
    return DesignRow(
        design_id=design_id(program, options),
        program_id=program.program_id,
        suite=program.suite,
        directives=directives_json(options.directives),
        memory_read_delay_cycles=options.memory_read_delay_cycles,
        memory_write_delay_cycles=options.memory_write_delay_cycles,
        clock_period_ns=options.clock_period_ns,
        liberty=options.liberty,
        delay_library=delay_library(options.liberty),
        engine_options=engine_options_json(options),
        tool=TOOL,
        tool_version=tool_version(),
        status=status,
        reason=reason,
        rtl_sha256=text_sha256(compiled.verilog) if compiled else None,
        rtl_bytes=len(compiled.verilog.encode()) if compiled else None,
        state_count=report.state_count if report else None,
        module_count=report.module_count if report else None,
        multiplexer_count=report.multiplexer_count if report else None,
        multiplexer_area_um2=report.multiplexer_area_um2 if report else None,
        estimated_area_um2=report.estimated_area_um2 if report else None,
        critical_path_ns=report.critical_path_ns if report else None,
        functional_unit_count=report.functional_unit_count if report else None,
        register_bits=report.register_bits if report else None,
        memory_port_conflict_count=report.memory_port_conflict_count if report else None,
        initiation_intervals=canonical_json(compiled.intervals) if compiled else None,
        is_constant=not reads_inputs(compiled.scheduled) if compiled else None,
        hls_wall_s=wall_s,
    )


def outcome_rows(
    program: ProgramRow, options: HlsOptions, compiled: CompiledDesign
) -> list[DirectiveOutcomeRow]:
    """Return one row for each directive of a design."""
    identity = design_id(program, options)
    return [
        DirectiveOutcomeRow(design_id=identity, directive=o.directive, applied=o.applied, reason=o.reason)
        for o in compiled.outcomes
    ]
