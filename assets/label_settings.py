"""What labelling reads of the configuration: its groups, and the options, target and cache they give.

The steps use it, and so does a question about one program, which needs no step.
"""

from __future__ import annotations

import os
from dataclasses import asdict

from pydantic import ValidationError

from assets.composition import default_content
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.settings import Configuration, Run, Settings, content_cache
from pipelines.base.validation import describe_invalid
from pipelines.dataset.labelling import (
    ConfigurationSpace,
    LabelContext,
    Labelling,
    LabelOptions,
    RegisteredSynthesis,
    Synthesis,
    library_name,
)
from pipelines.silicon.synthesis import Target, find_liberty


class LabelConfiguration(Configuration):
    """The groups that labelling reads."""

    hls: ConfigurationSpace
    synthesis: RegisteredSynthesis
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
    return Target(liberty=liberty, clock_period_ns=settings.group(ConfigurationSpace).clock_period_ns)


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
    run = settings.group(Run)
    return LabelOptions(
        **asdict(settings.group(Labelling)),
        synthesis=settings.group(Synthesis),
        workers=run.workers or os.cpu_count() or 1,
        slots={tool: n for tool, n in run.slots.items() if n is not None},
    )


def label_context(settings: Settings) -> LabelContext:
    """Return what every labelling step needs: cache, options, target.

    Raises: SynthesisError: the liberty is missing or is not liberty.
    """
    return LabelContext(cache=settings.cache, options=label_options(settings), target=target_of(settings))
