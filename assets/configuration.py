"""The configuration: Hydra groups composed, checked, and kept in params.yaml for DVC and the UI."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from assets.errors import FoundryError
from models.program_lm import EditOptions, TrainingOptions
from pipelines.files import read_bounded
from pipelines.hls.operators import LIMITED_CLASSES
from pipelines.labelling import SLOTTED, SYNTHESIS_TOOLS, TOOLS
from pipelines.programs import ALL_SUITES, POLYBENCH_DATA_TYPES, POLYBENCH_SIZES, SIZES
from pipelines.programs.ast import AstOptions
from pipelines.programs.dataflow import DataflowOptions
from pipelines.programs.llm import CheckLimits, Prices, TextLimits
from pipelines.schemas import write_bytes_atomically

CONFIGURATION_FOLDER = Path(__file__).resolve().parents[1] / "conf"
PARAMETERS_FILE = "params.yaml"
MOST_BYTES = 1 << 20
_YAML_ERRORS = (yaml.YAMLError, ValueError, AttributeError, KeyError, RecursionError)
"""What PyYAML raises for broken text; all but the first by oversight."""


def _of(choices: Sequence[str]) -> Any:
    """A non-empty list of some of the choices, kept in their order and without repeats."""

    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        alien = [name for name in names if name not in choices]
        if alien or not names:
            raise ValueError(f"must be some of {', '.join(choices)}")
        return tuple(choice for choice in choices if choice in names)

    return AfterValidator(check)


def _one_of(choices: Sequence[str]) -> Any:
    """One of the choices."""

    def check(name: str) -> str:
        if name not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return name

    return AfterValidator(check)


def read_unit_limits(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Limits of functional units, (class, number) in order of class, from texts as `mul_32=1` or `mul_32:1`.

    Raises: ValueError: another form, an unknown class, or no positive number.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, _, count = text.replace(":", "=").partition("=")  # an override of Hydra has no = in a list
        if name not in LIMITED_CLASSES or not count.isdecimal() or int(count) < 1:
            raise ValueError(
                f"a unit limit must be CLASS=N with N at least 1, got {text}; "
                f"classes: {', '.join(LIMITED_CLASSES)}"
            )
        found[name] = int(count)
    return tuple(sorted(found.items()))


def _checked_limits(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}={count}" for name, count in read_unit_limits(texts))


Positive = Annotated[float, Field(gt=0)]


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Programs(_Group):
    """Which programs."""

    suites: Annotated[tuple[str, ...], _of(ALL_SUITES)]
    sizes: Annotated[tuple[str, ...], _of(SIZES)]
    polybench_sizes: Annotated[tuple[str, ...], _of(POLYBENCH_SIZES)] = ("mini",)
    polybench_types: Annotated[tuple[str, ...], _of(POLYBENCH_DATA_TYPES)] = ("int", "float")
    shard: Annotated[int, Field(ge=1)] = 250


class Ast(_Group):
    """The programs of the suite ast; options are pipelines.programs.ast.AstOptions."""

    count: Annotated[int, Field(ge=0)]
    seed: int
    options: AstOptions


class Dataflow(_Group):
    """The programs of the suite dataflow; options are pipelines.programs.dataflow.DataflowOptions."""

    count: Annotated[int, Field(ge=0)]
    seed: int
    options: DataflowOptions


class LlmParents(_Group):
    """How often a program of each stage is varied."""

    ast: Annotated[float, Field(ge=0)]
    dataflow: Annotated[float, Field(ge=0)]


class LlmEmbedded(_Group):
    """The project's own model; the meanings are those of models.program_lm."""

    seed: int
    training: TrainingOptions
    editing: EditOptions


class LlmServer(_Group):
    """A server; the meanings are those of pipelines.programs.llm.ServerOptions."""

    url: str
    model: str
    key_variable: str
    temperature: float
    most_tokens: int
    timeout_s: Positive
    most_reply_bytes: int
    tries: int
    pause_s: float
    requests_a_minute: Positive | None


class LlmFolder(_Group):
    """A folder of weights."""

    path: str | None
    temperature: Annotated[float, Field(ge=0, le=5)]
    most_tokens: Annotated[int, Field(ge=1)]


class Llm(_Group):
    """The programs of the suite llm; the meanings are those of pipelines.programs.llm.LlmOptions."""

    count: Annotated[int, Field(ge=0)]
    seed: int
    provider: Literal["embedded", "server", "folder"]
    prompts: Annotated[tuple[str, ...], Field(min_length=1)]
    parents: LlmParents
    attempts: Annotated[int, Field(ge=1)]
    most_failures: Annotated[int, Field(ge=1)]
    prices: Prices
    text: TextLimits
    check: CheckLimits
    embedded: LlmEmbedded
    server: LlmServer
    folder: LlmFolder


class Hls(_Group):
    """The configurations of every program. Delays in cycles, clock periods in ns.

    With `sampling: latin_hypercube` the last seven count, see pipelines.labelling.MappingSampling.
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


class Synthesis(_Group):
    """Logic synthesis. Time limits in seconds a design; pyosys is always one of the tools."""

    liberty: str
    timeout_s: Positive
    tools: Annotated[tuple[str, ...], _of(SYNTHESIS_TOOLS)]
    placement_timeout_s: Positive


class Labelling(_Group):
    """Tools, cycles, their comparison with native C, the shares checked, power. Time limits in seconds."""

    tools: Annotated[tuple[str, ...], _of(TOOLS)]
    data_seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    audit_fraction: Annotated[float, Field(ge=0, le=1)]
    cross_check_fraction: Annotated[float, Field(ge=0, le=1)]
    model_timeout_s: Positive
    verilator_timeout_s: Positive
    native_timeout_s: Positive
    tool_timeout_s: Positive
    power: bool
    glitches: bool
    power_timeout_s: Positive


class Features(_Group):
    """The frozen split."""

    split: str


GroupName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""It names table files and partitions."""


class NetworkGroup(_Group):
    """Runs of one kind; fields and meanings are those of pipelines.network.runs.RunGroup."""

    network: str = "fat_tree"
    pods: int = 4
    edges: int = 8
    cores: int = 4
    hosts_per_edge: int = 4
    parallel_links: int = 2
    patterns: tuple[str, ...] = ("all_to_all", "incast", "broadcast")
    loads: tuple[float, ...] = (0.25, 0.5, 0.75)
    arrivals: tuple[str, ...] = ("poisson", "ge")
    scvs: tuple[float, ...] = (4.0,)
    sizes: tuple[str, ...] = ("fixed", "uniform")
    mean_bytes: tuple[int, ...] = (500,)
    spread: float = 0.01
    density: float = 1.0
    protocols: tuple[str, ...] = ("udp",)
    acknowledged: tuple[bool, ...] = (True,)
    routings: tuple[str, ...] = ("ecmp",)
    routing_seeds: tuple[int, ...] = (1,)
    seeds: tuple[int, ...] = (1,)
    samples: int | None = None
    sample_seed: int = 0
    duration_s: Positive = 10.0
    warm_up_s: Annotated[float, Field(ge=0)] = 1.0
    queue_capacity: int = 128


class Network(_Group):
    """Simulated networks; the limit of each run is of processor time."""

    groups: dict[GroupName, NetworkGroup] = {}
    timeout_s: Positive = 600.0


class Pragmas(_Group):
    """Searches for directives; meanings are those of pipelines.pragmas.search.SuiteExploration."""

    kernels: tuple[str, ...] = ()
    size: str = "mini"
    data_type: str = "float"
    methods: tuple[str, ...] = ("nlp_dse",)
    most_evaluations: Annotated[int, Field(ge=1)] | None = 12
    solver_nodes: Annotated[int, Field(ge=1)] = 2000
    most_operations: Annotated[int, Field(ge=1)] = 15_000
    hls_timeout_s: Positive = 600.0
    most_area_um2: Positive | None = None
    ordered_sums: bool = False
    together: Annotated[int, Field(ge=1)] = 2
    seed: int = 0


class TensetMlp(_Group):
    """Training of the Tenset-MLP; meanings are those of models.tenset_mlp.TrainOptions."""

    seed: int
    features: str
    hidden_sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    learning_rate: Positive
    weight_decay: Annotated[float, Field(ge=0)]
    batch_size: Annotated[int, Field(ge=1)]
    max_epochs: Annotated[int, Field(ge=1)]
    patience: Annotated[int, Field(ge=1)]
    stopping_groups: Annotated[int, Field(ge=0)]
    bootstrap_resamples: Annotated[int, Field(ge=1)]


class Models(_Group):
    """One group a predictor."""

    tenset_mlp: TensetMlp


class Quality(_Group):
    """Shares above which a quality check warns."""

    max_failure_fraction: Annotated[float, Field(ge=0, le=1)]


class Run(_Group):
    """How this machine works; nothing here changes a row."""

    workers: Annotated[int, Field(ge=1)] | None = None
    slots: Annotated[
        dict[Annotated[str, _one_of(SLOTTED)], Annotated[int, Field(ge=1)] | None],
        AfterValidator(lambda slots: {tool: n for tool, n in slots.items() if n is not None}),
    ] = {}


class Configuration(_Group):
    """Everything a run depends on."""

    programs: Programs
    ast: Ast
    dataflow: Dataflow
    llm: Llm
    hls: Hls
    synthesis: Synthesis
    labelling: Labelling
    features: Features
    network: Network = Network()
    pragmas: Pragmas = Pragmas()
    models: Models
    quality: Quality
    run: Run = Run()


def accepted_keys(model: type[BaseModel] = Configuration, prefix: str = "") -> Iterator[str]:
    """Names of all keys, as an override spells them, in the order of their declaration."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from accepted_keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def scales() -> tuple[str, ...]:
    """Names of the scales, from conf/scale."""
    return tuple(sorted(path.stem for path in (CONFIGURATION_FOLDER / "scale").glob("*.yaml")))


def compose_configuration(overrides: Sequence[str]) -> Configuration:
    """Compose the groups of conf/ with overrides, in Hydra's syntax.

    Args:   overrides: for example `scale=smoke`, `hls.memory_delay=[2,10]`.
    Raises: FoundryError: an override is not accepted; the message names it and the accepted keys.
    """
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        with initialize_config_dir(str(CONFIGURATION_FOLDER), version_base="1.3"):
            composed = compose("config", overrides=list(overrides))
            content: Any = OmegaConf.to_container(composed, resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise FoundryError(
            f"an override must be an accepted key and value, got {' '.join(overrides)} "
            f"({str(error).splitlines()[0]}); {_choices()}"
        ) from error
    return _validated(content, where=" ".join(overrides) or "conf/")


def write_parameters(project: Path, configuration: Configuration) -> Path:
    """Keep what determines the rows in params.yaml, where DVC and the UI read it.

    Returns: the file; it is left alone when it says the same already.
    Raises:  OSError: not writable.
    """
    path = project / PARAMETERS_FILE
    text = parameters_text(configuration)
    if not path.is_file() or path.read_bytes() != text:
        write_bytes_atomically(path, text)
        path.chmod(0o644)  # a temporary file is private; this one is for everyone who reads the repository
    return path


def parameters_text(configuration: Configuration, *, without: Collection[str] = ()) -> bytes:
    """What params.yaml says of a configuration.

    Args: without: groups that are left out; they have their defaults when it is read.
    """
    header = "# Written by `simfoundry run`; `dvc repro` and the Dagster UI read it.\n"
    content = configuration.model_dump(mode="json", exclude={"run", *without})
    return (header + yaml.safe_dump(content, sort_keys=False)).encode()


def read_parameters(project: Path) -> Configuration:
    """The configuration of the last `simfoundry run`; the default one when there was none.

    Raises: FoundryError: params.yaml is not what `simfoundry run` writes.
    """
    path = project / PARAMETERS_FILE
    if not path.is_file():
        return compose_configuration([])
    try:
        return read_parameters_file(path)
    except FoundryError as error:
        raise FoundryError(f"{error}; `simfoundry run` writes it anew") from error


def read_parameters_file(path: Path) -> Configuration:
    """The configuration in a file as `simfoundry run` writes it.

    Raises: FoundryError: it cannot be read, or is not what `simfoundry run` writes.
    """
    text = read_bounded(path, what="configuration", most_bytes=MOST_BYTES, error=FoundryError)
    try:
        content = yaml.load(text.decode(), _PlainLoader)  # noqa: S506  it is a safe loader
    except _YAML_ERRORS as error:
        raise FoundryError(f"not YAML: {path}: {' '.join(str(error).split())}") from error
    return _validated(content, where=str(path))


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases, by which a short text says an endless value."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias; accepted: values written out")
        return super().compose_node(parent, index)


def _validated(content: Any, *, where: str) -> Configuration:
    try:
        return Configuration.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(_problem(e) for e in error.errors())
        about_keys = any(e["type"] in ("extra_forbidden", "missing") for e in error.errors())
        raise FoundryError(f"{problems} ({where})" + (f"; {_choices()}" if about_keys else "")) from error


def _problem(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"]) or "the configuration"
    if error["type"] == "extra_forbidden":
        return f"unknown key: {key}"
    if error["type"] == "missing":
        return f"missing key: {key}"
    return f"{key}: {error['msg'].removeprefix('Value error, ')}, got {error['input']!r}"


def _choices() -> str:
    return f"accepted keys: {', '.join(accepted_keys())}; scales: {', '.join(scales())}"
