"""What every stage is given: where things are and the typed inputs of the engines."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assets.configuration import Configuration, read_unit_limits
from assets.deployments import Deployment
from pipelines.cache import ContentCache
from pipelines.labelling import ConfigurationSpace, LabelContext, LabelOptions, MappingSampling
from pipelines.programs import Generation, SuiteOptions
from pipelines.synthesis import Target, find_liberty
from pipelines.workers import Progress

if TYPE_CHECKING:
    from pipelines.network.runs import RunGroup
    from pipelines.pragmas.explore import SuiteExploration

Listener = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """A listener for callers that show nothing."""
    del progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A configuration in a deployment."""

    configuration: Configuration
    deployment: Deployment

    @property
    def cache(self) -> ContentCache:
        """The content cache."""
        return ContentCache(folder=self.deployment.cache_dir)

    @property
    def suite_options(self) -> SuiteOptions:
        """What the programs of any suite depend on."""
        ast, dataflow = self.configuration.ast, self.configuration.dataflow
        return SuiteOptions(
            sizes=self.configuration.programs.sizes,
            ast=Generation(count=ast.count, seed=ast.seed),
            dataflow=Generation(count=dataflow.count, seed=dataflow.seed),
            ast_options=ast.options,
            dataflow_options=dataflow.options,
            polybench_sizes=self.configuration.programs.polybench_sizes,
            polybench_types=self.configuration.programs.polybench_types,
        )

    @property
    def space(self) -> ConfigurationSpace:
        """The configurations of every program."""
        hls = self.configuration.hls
        return ConfigurationSpace(
            memory_delays=hls.memory_delay,
            pipeline=hls.pipeline,
            clock_period_ns=hls.clock_period_ns,
            write_delay=hls.write_delay,
            unsafe_math=hls.unsafe_math,
            unit_limits=read_unit_limits(hls.unit_limits),
            tools=self.configuration.labelling.tools,
            sampling=self._sampling if hls.sampling == "latin_hypercube" else None,
        )

    @property
    def _sampling(self) -> MappingSampling:
        hls = self.configuration.hls
        return MappingSampling(
            count=hls.samples,
            seed=hls.seed,
            read_delays=hls.memory_delay,
            write_delays=hls.memory_delay if hls.write_delay is None else (hls.write_delay,),
            clock_periods_ns=hls.clock_periods_ns or (hls.clock_period_ns,),
            plain_share=hls.plain_share,
            copy_limit=hls.copy_limit,
            added_cells_limit=hls.added_cells_limit,
            bank_limit=hls.bank_limit,
        )

    @property
    def network_groups(self) -> dict[str, RunGroup]:
        """The groups of network runs by name, in order.

        Raises: NetworkError: a value is not acceptable.
        """
        from pipelines.network.runs import RunGroup  # a second, which commands without networks save

        groups = self.configuration.network.groups
        return {name: RunGroup(name=name, **group.model_dump()) for name, group in groups.items()}

    @property
    def explorations(self) -> SuiteExploration:
        """The searches for directives.

        Raises: PragmaError: a method is not acceptable.
        """
        from pipelines.pragmas.explore import SuiteExploration  # with the solver, which most commands save

        return SuiteExploration(**self.configuration.pragmas.model_dump())

    @property
    def target(self) -> Target:
        """The cell library and the clock.

        Raises: SynthesisError: the liberty is missing or is not liberty.
        """
        return Target(
            liberty=find_liberty(self.configuration.synthesis.liberty),
            clock_period_ns=self.configuration.hls.clock_period_ns,
        )

    @property
    def context(self) -> LabelContext:
        """What every step of labelling needs.

        Raises: SynthesisError: the liberty is missing or is not liberty.
        """
        return LabelContext(cache=self.cache, options=self.options, target=self.target)

    @property
    def options(self) -> LabelOptions:
        """Seeds, time limits and how many designs at a time."""
        labelling = self.configuration.labelling
        return LabelOptions(
            workers=self.configuration.run.workers or os.cpu_count() or 1,
            slots={tool: n for tool, n in self.configuration.run.slots.items() if n is not None},
            data_seeds=labelling.data_seeds,
            audit_fraction=labelling.audit_fraction,
            cross_check_fraction=labelling.cross_check_fraction,
            model_timeout_s=labelling.model_timeout_s,
            verilator_timeout_s=labelling.verilator_timeout_s,
            synthesis_timeout_s=self.configuration.synthesis.timeout_s,
            synthesis_tools=self.configuration.synthesis.tools,
            placement_timeout_s=self.configuration.synthesis.placement_timeout_s,
            native_timeout_s=labelling.native_timeout_s,
            tool_timeout_s=labelling.tool_timeout_s,
            power=labelling.power,
            glitches=labelling.glitches,
            power_timeout_s=labelling.power_timeout_s,
        )
