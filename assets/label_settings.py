"""What labelling reads of the configuration: its groups, and the options, target and cache they give.

The steps use it, and so does a question about one program, which needs no step.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from assets.composition import default_content
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.settings import Configuration, Group, Run, Settings, content_cache, one_of, some_of
from pipelines.base.validation import Positive, describe_invalid
from pipelines.dataset.labelling import (
    AUDIT_ENGINES,
    SYNTHESIS_TOOLS,
    TOOLS,
    LabelContext,
    LabelOptions,
    library_name,
)
from pipelines.hls.operators import LIMITED_CLASSES
from pipelines.schemas import DATA_KINDS, DRAWN
from pipelines.silicon.synthesis import Target, find_liberty


def read_unit_limits(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Read the limits of functional units, (class, number) in order of class, from texts as `mul_32=1` or
    `mul_32:1`.

    Raises: ValueError: another form, an unknown class, or no positive number.
    """
    limits: dict[str, int] = {}
    for text in texts:
        name, _, count = text.replace(":", "=").partition("=")  # an override of Hydra has no = in a list
        if name not in LIMITED_CLASSES or not count.isdecimal() or int(count) < 1:
            raise ValueError(
                f"a unit limit must be CLASS=N with N at least 1, got {text}; "
                f"classes: {', '.join(LIMITED_CLASSES)}"
            )
        limits[name] = int(count)
    return tuple(sorted(limits.items()))


def _checked_limits(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}={count}" for name, count in read_unit_limits(texts))


def _with_drawn(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the drawn data come first: they decide the label, its power, audit and cross-checks."""
    if DRAWN not in kinds:
        raise ValueError(f"{DRAWN} is one of every list of kinds, got {', '.join(kinds)}")
    return kinds


class Hls(Group):
    """The configurations of every program. Delays in cycles, clock periods in ns.

    With `sampling: latin_hypercube` the last eight count, see pipelines.dataset.labelling.MappingSampling.
    """

    memory_delay: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]
    write_delay: Annotated[int, Field(ge=1)] | None = None
    pipeline: Annotated[tuple[bool, ...], Field(min_length=1)]
    clock_period_ns: Positive
    unsafe_math: bool = False
    unit_limits: Annotated[tuple[str, ...], AfterValidator(_checked_limits)] = ()
    sampling: Literal["grid", "latin_hypercube"] = "grid"
    samples: Annotated[int, Field(ge=1)] = 4
    seed: Annotated[int, Field(ge=0)] = 0
    clock_periods_ns: tuple[Positive, ...] = ()
    plain_share: Annotated[float, Field(ge=0, lt=1)] = 0.5
    copy_limit: Annotated[int, Field(ge=1)] = 16
    added_cells_limit: Annotated[int, Field(ge=0)] = 4000
    bank_limit: Annotated[int, Field(ge=0)] = 8
    varied_share: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _clocks_are_drawn(self) -> Self:
        if self.clock_periods_ns and self.sampling == "grid":
            raise ValueError(
                "clock_periods_ns are drawn with sampling latin_hypercube; accepted for a grid: []"
            )
        return self


class Synthesis(Group):
    """Logic synthesis. Time limits in seconds a design; pyosys is always one of the tools."""

    liberty: str
    timeout_s: Positive
    tools: Annotated[tuple[str, ...], some_of(SYNTHESIS_TOOLS)]
    fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    demanding_fraction: Annotated[float, Field(ge=0, le=1)] = 0.0
    demanding_um2_per_ns: Positive = 180_000.0
    demanding_um2_cycles: Positive = 1e12
    fpga_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    fpga_unmapped_fraction: Annotated[float, Field(ge=0, le=1)] = 0.0
    unmapped_most_um2: Positive | None = None
    other_libraries: tuple[str, ...] = ()
    other_library_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    other_library_unmapped_fraction: Annotated[float, Field(ge=0, le=1)] = 0.0
    placement_timeout_s: Positive


class Labelling(Group):
    """Tools, cycles, their comparison with native C, the shares checked, power. Time limits in seconds."""

    tools: Annotated[tuple[str, ...], some_of(TOOLS)]
    data_seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    data_kinds: Annotated[tuple[str, ...], some_of(DATA_KINDS), AfterValidator(_with_drawn)] = (DRAWN,)
    full_power_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    light_um2_cycles: Annotated[float, Field(ge=0)] = 0.0
    audit_fraction: Annotated[float, Field(ge=0, le=1)]
    audit_engine: Annotated[str, one_of(AUDIT_ENGINES)] = AUDIT_ENGINES[0]
    cross_check_fraction: Annotated[float, Field(ge=0, le=1)]
    model_timeout_s: Positive
    verilator_timeout_s: Positive
    native_timeout_s: Positive
    tool_timeout_s: Positive
    power: bool
    glitches: bool
    timed_cycles: Annotated[int, Field(ge=1)] | None = None
    power_timeout_s: Positive


class LabelConfiguration(Configuration):
    """The groups that labelling reads."""

    hls: Hls
    synthesis: Synthesis
    labelling: Labelling
    run: Run


def default_label_settings(deployment: Deployment) -> Settings:
    """Return the settings of labelling without overrides.

    Raises: FoundryError: conf/ cannot be composed, or a value is not accepted.
    """
    content = default_content(content_cache(deployment))
    groups = {name: content[name] for name in LabelConfiguration.model_fields}
    try:
        configuration = LabelConfiguration.model_validate(groups)
    except ValidationError as error:
        raise FoundryError(describe_invalid(error, LabelConfiguration, "conf/")) from error
    return Settings(configuration=configuration, deployment=deployment)


def target_of(settings: Settings) -> Target:
    """Return the cell library and the clock.

    Raises: SynthesisError: the liberty is missing or is not liberty.
    """
    liberty = find_liberty(settings.group(Synthesis).liberty)
    return Target(liberty=liberty, clock_period_ns=settings.group(Hls).clock_period_ns)


def require_libraries(settings: Settings) -> None:
    """Check that the cell libraries can be read, and are several.

    Raises: SynthesisError: a liberty is missing or is not liberty. FoundryError: one is named twice.
    """
    seen = {library_name(target_of(settings).liberty)}
    for text in settings.group(Synthesis).other_libraries:
        name = library_name(find_liberty(text))
        if name in seen:
            raise FoundryError(
                f"library {name} twice: synthesis.other_libraries={text}; accepted: others than "
                "synthesis.liberty"
            )
        seen.add(name)


def label_options(settings: Settings) -> LabelOptions:
    """Return seeds, time limits, and how many designs are worked on at once."""
    labelling, synthesis, run = settings.group(Labelling), settings.group(Synthesis), settings.group(Run)
    renamed = {name: f"synthesis_{name}" for name in ("timeout_s", "tools", "fraction")}
    cells = synthesis.model_dump(exclude={"liberty", "other_libraries"})
    return LabelOptions(
        workers=run.workers or os.cpu_count() or 1,
        slots={tool: n for tool, n in run.slots.items() if n is not None},
        other_libraries=tuple(find_liberty(name) for name in synthesis.other_libraries),
        **{renamed.get(name, name): value for name, value in cells.items()},
        **labelling.model_dump(exclude={"tools"}),
    )


def label_context(settings: Settings) -> LabelContext:
    """Return what every labelling step needs: cache, options, target.

    Raises: SynthesisError: the liberty is missing or is not liberty.
    """
    return LabelContext(cache=settings.cache, options=label_options(settings), target=target_of(settings))
