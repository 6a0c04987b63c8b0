"""`simfoundry predict`: the answer of a model, the best champion by default."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from assets.deployments import find_deployment, require_whole_registry
from assets.errors import FoundryError, explain
from assets.user_programs import read_directives, read_user_program
from models.base import PredictorError
from models.intervals import COVERED, MEASURED, TRIPS_KNOWN
from models.local_registry import (
    CHAMPION,
    LocalModel,
    find_local,
    is_local,
    is_new,
    shipped_refusal,
)
from models.model_files import read_outcome
from models.query import ALL_TARGETS, Query
from models.trips import count_trips, source_loop, source_loops, trips_json
from pipelines.base.tools import ToolMissing
from pipelines.c import HlsError, directives_json, parse_directives, read_interface
from pipelines.cyclemodel import CYCLE_LIMIT
from pipelines.dataset.records import summarise_data
from pipelines.hls import HlsOptions, TransformOptions, check_program, compile_program
from pipelines.native import repair_of, run_native_sets
from pipelines.programs import draw_data, load_data
from pipelines.schemas import REJECTED
from simfoundry.commands.predict_text import range_note

if TYPE_CHECKING:
    from models.base import TrainOutcome
    from models.catalogue import PredictorSpec
    from models.champions import Champion
    from models.scheduled import QueryKnowledge
    from pipelines.c.signature import DataSet, Interface
    from pipelines.hls import CompiledDesign
    from pipelines.schemas import LoopRow
    from simfoundry.commands.selective import Within
    from simfoundry.questions import PredictQuestion

_ENGINE: Mapping[str, Any] = {"liberty": "osu018", "engine_options": "{}"}
"""Engine of the estimates beside an answer."""
_SEEDS = (1, 2, 3)
"""Seeds of the data sets that count trips by ranges of the source."""
_NATIVE_TIMEOUT_S = 2.0
"""Processor time of a check of data; programs without end are no reason to wait."""
_ROW = "row 0: "
"""Begins the message of a predictor that refuses the only question."""


def predict_file(
    *,
    file: Path,
    top: str | None,
    directives: Path | None,
    memory_delay: int,
    clock: float,
    unsafe_math: bool = False,
    model: str | None = None,
    data: Path | None = None,
    within: Within | None = None,
) -> dict[str, Any]:
    """Ask a model about one C file under one configuration.

    Args:    top: function that becomes hardware; None for the one the file is about.
             model: NAME@ALIAS, or a folder that a training or a calibration wrote; None for the best
             champion. memory_delay: cycles. clock: period in ns. unsafe_math: floating sums may be
             reordered. data: JSON file of run-time data. within: ask the cheapest levels first, up to the
             label, until the intervals are narrow enough.
    Returns: a value per target, with the confidence, the features outside of training, and where it is from.
    Raises:  FoundryError: no such model, a damaged registry, or no model can answer. PredictorError: a
             damaged folder. ProgramError, HlsError: an input is not acceptable.
    """
    query = question_of(
        file=file,
        top=top,
        directives=directives,
        memory_delay=memory_delay,
        clock=clock,
        unsafe_math=unsafe_math,
        data=data,
    )
    if within is not None:
        return _ask_within(query, within, file, data)
    answer = _ask_best(query, str(file)) if model is None else _ask_named(model, query, str(file))
    answer = {**_in_words(answer), **engine_answer(query), "top": query.top}
    return _open_ended(answer, is_plain=query.directives == "[]")


def within_of(question: PredictQuestion) -> Within | None:
    """Return how narrow an answer must be; None where one model answers.

    Raises: FoundryError: options of `--within` without it, with a model, or an unknown target.
    """
    from simfoundry.commands.selective import Within

    if question.within is None:
        if question.budget_s is not None or question.targets:
            raise FoundryError("--budget and --targets need --within")
        return None
    for name in ("within", "budget_s"):
        value: Any = getattr(question, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if value is not None and not (is_number and (value > 0 or (value == 0 and name == "budget_s"))):
            raise FoundryError(f"{name} must be a positive number, got {value!r:.60}")
    if isinstance(question.targets, str):
        raise FoundryError(f"targets must be a list of names, got {question.targets!r:.60}")
    if question.model is not None:
        raise FoundryError("--within asks the champions of all levels; accepted: it without --model")
    unknown = [name for name in question.targets if name not in ALL_TARGETS]
    if unknown:
        raise FoundryError(f"unknown target: {unknown[0]!r}; accepted: {', '.join(ALL_TARGETS)}")
    return Within(
        within=question.within, budget_s=question.budget_s, targets=tuple(question.targets) or ALL_TARGETS
    )


def _ask_within(query: Query, within: Within, file: Path, data: Path | None) -> dict[str, Any]:
    """Return the cheapest answer that is narrow enough; the engine's estimates where its level has them."""
    from simfoundry.commands.selective import LABEL, answer_within, label_level, model_levels

    def label() -> dict[str, Any]:
        from simfoundry.commands.label import answer_label
        from simfoundry.questions import LabelQuestion, Options

        known = _knowledge(query, "hls")
        if known is not None and known.knowledge.late_loop is not None:
            raise FoundryError(f"a run does not end within {CYCLE_LIMIT:,} cycles")
        options = Options(
            memory_delay=query.memory_read_delay_cycles,
            clock_ns=query.clock_period_ns,
            directives=json.loads(query.directives),
            unsafe_math=query.unsafe_math,
        )
        rows = answer_label(LabelQuestion(file, query.top, options=options, data=data))
        varies = data is None and known is not None and known.trips != TRIPS_KNOWN
        return {**rows, "varies_with_data": varies}

    def area_um2() -> float | None:
        known = _knowledge(query, "hls")
        return None if known is None else known.knowledge.features.estimated_area_um2

    models = model_levels(query, _ranked_champions(), ask_model, str(file))
    answer = {**answer_within([*models, label_level(label, area_um2)], within), "top": query.top}
    if answer["level"] == LABEL:
        return answer
    if answer["level"] in ("hls", "run"):
        answer = _open_ended({**answer, **engine_answer(query)}, is_plain=query.directives == "[]")
    elif (known := _knowledge(query, "static")) is not None:
        answer["unknown_loops"] = unknown_loops(query, known)
    return _in_words(answer)


def _knowledge(query: Query, level: str) -> QueryKnowledge | None:
    """Return what the engine gives of a question, None of a program that it refuses."""
    from models.scheduled import know_query

    try:
        return know_query(query, _ENGINE, level)
    except ValueError:
        return None


def _ask_named(model: str, query: Query, location: str) -> dict[str, Any]:
    """Return the answer of a registered model, or of the model in a folder."""
    if not Path(model).is_dir():
        name, alias = _named(model)
        _require_labels(name)
        return {"model": model, **ask_model(name, alias, asdict(query), location)}
    spec = _spec_of(Path(model))
    _require_labels(spec.name)
    local = LocalModel(spec=spec, version="unregistered", folder=Path(model))
    return {"model": model, **_answer_of(local, asdict(query), location)}


def local_model(model: str) -> LocalModel:
    """Return a model whose files are on this machine: NAME@ALIAS, or a folder.

    Raises: FoundryError: no such model here, or none of C programs. PredictorError: a damaged folder.
    """
    if Path(model).is_dir():
        spec = _spec_of(Path(model))
        _require_labels(spec.name)
        return LocalModel(spec=spec, version="unregistered", folder=Path(model))
    name, alias = _named(model)
    _require_labels(name)
    local = find_local(find_deployment().tracking_uri, name, alias)
    if local is None:
        raise FoundryError(
            f"no model on this machine: {model}; accepted: a folder, or NAME@champion of one here"
        )
    return local


def _require_labels(name: str) -> None:
    """Refuse a predictor that answers no question about a C program. Raises: FoundryError."""
    from models.catalogue import predictors
    from models.champions import label_predictors

    names = [spec.name for spec in label_predictors()]
    if name not in names and name in {spec.name for spec in predictors()}:
        raise FoundryError(f"not a model of C programs: {name}; accepted: {', '.join(names)}")


def _ask_best(query: Query, location: str) -> dict[str, Any]:
    """Return the answer of the best champion that can answer.

    A level of information that refuses the question is left out; a model that cannot be loaded is replaced by
    the next one. `fallback_reason` of the answer says why a better one did not answer, or is empty.

    Raises: HlsError: high-level synthesis refuses the configuration, or its front end the program.
            FoundryError: no champion can answer.
    """
    options = HlsOptions(
        memory_read_delay_cycles=query.memory_read_delay_cycles,
        memory_write_delay_cycles=query.memory_write_delay_cycles,
        clock_period_ns=query.clock_period_ns,
        directives=parse_directives(query.directives),
        transforms=TransformOptions(unsafe_math=query.unsafe_math),
    )
    check_program(query.source, top=query.top, options=options, file=location)
    reasons: dict[str, str] = {}
    refused: set[str] = set()
    for champion in _ranked_champions():
        level = champion.spec.task.level
        if level in refused:
            continue
        try:
            answer = ask_model(champion.spec.name, CHAMPION, asdict(query), location)
        except (FoundryError, ToolMissing) as error:
            refused.add(level)
            reasons[champion.name] = _why(error)
        except (PredictorError, OSError) as error:
            reasons[champion.name] = _why(error)
        else:
            if any(answer.get(target) is not None for target in champion.spec.task.targets):
                known = {"reference_error": champion.error, "fallback_reason": _in_one_line(reasons)}
                return {"model": champion.name, **answer, **known}
            reasons[champion.name] = str(answer.get("reason") or "no value of any target")
    raise FoundryError(f"no champion can answer {location}: {_in_one_line(reasons) or 'there is none'}")


def _why(error: Exception) -> str:
    """Tell why a model does not answer, without the place of the question."""
    return explain(error.__cause__ or error).removeprefix(_ROW)


def _in_one_line(reasons: Mapping[str, str]) -> str:
    """Return the models and why they do not answer; equal reasons once."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(models)}: {reason}" for reason, models in names.items())


def _ranked_champions() -> list[Champion]:
    """Return the champions of labels, the best first.

    Raises: FoundryError: the registry is damaged.
    """
    from models.champions import Champion, label_predictors, local_champions, rank_champions

    deployment = find_deployment()
    require_whole_registry(deployment)
    uri = deployment.tracking_uri
    if is_local(uri):
        return rank_champions(local_champions(uri))
    from simfoundry.commands.models import list_models

    errors = {model.name: model.error for model in list_models() if CHAMPION in model.aliases}
    registered = [spec for spec in label_predictors() if spec.name in errors]
    return rank_champions(Champion(spec=spec, error=errors[spec.name]) for spec in registered)


def engine_answer(query: Query) -> dict[str, Any]:
    """Return the engine's own estimates after high-level synthesis, or why there are none.

    Keys are `engine_<target>`, with the loops whose trip count is unknown, and the shares of all loops.
    """
    from models.engine_estimate.estimates import estimate_of
    from models.scheduled import know_query

    try:
        known = know_query(query, _ENGINE, "hls")
    except ValueError as error:
        return {"engine_level": "hls", "engine_reason": str(error)}
    values = {f"engine_{name}": value for name, value in estimate_of(known).items()}
    loops = unknown_loops(query, known)
    shares = shares_of_loops(query, known)
    more = {"unknown_loops": loops, "loop_shares": shares, **_not_ended(query, known)}
    return {"engine_level": "hls", **values, **more}


def shares_of_loops(query: Query, known: QueryKnowledge) -> list[dict[str, Any]]:
    """Return the shares of the source's loops in the engine's estimates of area and cycles, largest first.

    Each has `loop` and `line`, null for what is in no loop, `area_share` and `cycle_share`. A copy of a loop
    counts for the loop. Without an estimate of cycles there are none.
    """
    from pipelines.dataset.features.loop_shares import loop_shares

    estimate = known.knowledge.estimate
    if estimate is None or estimate.late_loop is not None:
        return []
    lines = {loop.loop: loop.line for loop in source_loops(query)}
    areas: defaultdict[str | None, float] = defaultdict(float)
    cycles: defaultdict[str | None, float] = defaultdict(float)
    for share in loop_shares(known.compiled, estimate):
        name = source_loop(share.loop, lines)
        areas[name] += share.area
        cycles[name] += share.cycles
    return [
        {
            "loop": name,
            "line": None if name is None else lines[name],
            "area_share": round(area, 4),
            "cycle_share": round(cycles[name], 4),
        }
        for name, area in sorted(areas.items(), key=lambda item: (-item[1], item[0] or ""))
    ]


def _not_ended(query: Query, known: QueryKnowledge) -> dict[str, Any]:
    """Return loop that the estimate did not leave, and the limit of its cycles; nothing where it ended."""
    late = known.knowledge.late_loop
    if late is None:
        return {}
    loop = _late_source_loop(query, known)
    facts = {"loop": late, "line": None, "trip_count": None}
    if loop is not None:
        trips = loop.trip_count if known.knowledge.late_is_counted else None
        facts = {"loop": loop.loop, "line": loop.line, "trip_count": trips}
    return {"not_ended": {**facts, "cycle_limit": CYCLE_LIMIT}}


def _late_source_loop(query: Query, known: QueryKnowledge) -> LoopRow | None:
    """Return the loop of the source that the estimate did not leave."""
    loops = {} if known.knowledge.late_loop is None else {loop.loop: loop for loop in source_loops(query)}
    name = source_loop(known.knowledge.late_loop or "", loops)
    return None if name is None else loops[name]


def _open_ended(answer: dict[str, Any], *, is_plain: bool) -> dict[str, Any]:
    """Return the cycles of a run that did not end: no fewer than the limit that it passed, and no upper end.

    An iteration that no directive copies takes a cycle at least, so that a known trip count is a limit, too.
    """
    late = answer.get("not_ended")
    if late is None:
        return answer
    least = max(late["cycle_limit"], (late["trip_count"] or 0) if is_plain else 0)
    names = ("latency_cycles", "latency_cycles_low", "engine_latency_cycles")
    raised = {n: max(answer[n], least) for n in names if answer.get(n) is not None}
    no_end = {"latency_cycles_high": None} if "latency_cycles_high" in answer else {}
    return answer | raised | no_end


def unknown_loops(query: Query, known: QueryKnowledge) -> list[dict[str, Any]]:
    """Return the name and line of the source's loops whose trip count neither the program nor data give."""
    late = _late_source_loop(query, known)
    unknown = [loop.loop for loop in known.knowledge.loops if loop.bounds == "data"]
    lines = {loop.loop: loop.line for loop in source_loops(query)} if unknown else {}
    names = {source_loop(name, lines) for name in unknown}
    if late is not None and late.trip_count is not None and known.knowledge.late_is_counted:
        names -= {late.loop}
    loops = [{"loop": name, "line": lines[name]} for name in names if name is not None]
    return sorted(loops, key=lambda loop: (loop["line"], loop["loop"]))


def question_of(
    *,
    file: Path,
    top: str | None,
    directives: Path | Sequence[Mapping[str, Any]] | None,
    memory_delay: int,
    clock: float,
    unsafe_math: bool = False,
    data: Path | None,
) -> Query:
    """Return the question about a C file under one configuration; see `predict_file`."""
    program = read_user_program(file, top)
    source, top = program.source, program.top
    values = None
    if data is not None:
        interface = read_interface(source, top, file=str(file))
        values = load_data(data, interface)
        _require_defined(source, interface, values, file, data)
    query = Query(
        source=source,
        top=top,
        memory_read_delay_cycles=memory_delay,
        memory_write_delay_cycles=memory_delay,
        clock_period_ns=clock,
        directives=directives_json(read_directives(directives)),
        inputs=program.inputs,
        data="" if values is None else summarise_data(values),
        unsafe_math=unsafe_math,
    )
    return replace(query, trips=_trips_of(query, values), inputs=_with_values(query.inputs, values))


def _require_defined(source: str, interface: Interface, values: DataSet, file: Path, data: Path) -> None:
    """Refuse data on which the program has undefined behaviour, as `label` does.

    A run of native C that does not end in time says nothing.

    Raises: FoundryError: an index outside an array, or other undefined behaviour.
    """
    with TemporaryDirectory() as name:
        folder = Path(name) / "native"
        run = run_native_sets(
            source, interface, [values], folder=folder, timeout_s=_NATIVE_TIMEOUT_S, gcc_shifts=True
        )[0]
    repair = repair_of(run.reason or "") if run.status == REJECTED else None
    if repair is not None:
        reason = str(run.reason).replace("kernel.c:", f"{file.name}:")
        raise FoundryError(f"the data of {data} do not suit the program: {reason}; {repair}")


def _with_values(inputs: str, values: DataSet | None) -> str:
    """Return a specification by which a run is on given values: level run draws its data from it."""
    fixed = {
        name: {"kind": "values", "values": value.tolist()}
        if value.ndim
        else {"kind": "constant", "value": value.item()}
        for name, value in (values or {}).items()
        if np.isfinite(value).all()  # others are initial values of objects, which stay
    }
    return json.dumps(json.loads(inputs) | fixed) if fixed else inputs


def _trips_of(query: Query, values: DataSet | None) -> str:
    """Return trip counts that data, or values drawn from the ranges, give the loops without a known one."""
    if values is None and query.inputs == "{}":
        return ""
    try:
        loops = source_loops(query)
        if all(loop.trip_count is not None for loop in loops):
            return ""
        compiled = compile_program(query.source, top=query.top, options=_plain_options(query))
    except HlsError:
        return ""  # the model says what it refuses
    drawn = [values] if values is not None else _drawn(compiled, query.inputs)
    return trips_json(count_trips(compiled, loops, drawn))


def _drawn(compiled: CompiledDesign, inputs: str) -> list[DataSet]:
    """Return the data sets by the ranges of the source; not the one that `label` draws, whose seed is 0."""
    return [draw_data(compiled.interface, inputs, seed=seed) for seed in _SEEDS]


def _plain_options(query: Query) -> HlsOptions:
    return HlsOptions(
        memory_read_delay_cycles=query.memory_read_delay_cycles,
        memory_write_delay_cycles=query.memory_write_delay_cycles,
        clock_period_ns=query.clock_period_ns,
        transforms=TransformOptions(unsafe_math=query.unsafe_math),
    )


def _named(model: str) -> tuple[str, str]:
    """Return the name and alias; `numeric-lm`, which is no predictor, is the one at level hls."""
    name, _, alias = model.partition("@")
    if not name or not alias:
        raise FoundryError(
            f"a model must be NAME@ALIAS such as lightgbm-hls@champion, or a folder, got {model!r}"
        )
    from models.catalogue import predictors

    known = {spec.name for spec in predictors()}
    return (name if name in known or f"{name}-hls" not in known else f"{name}-hls"), alias


@contextmanager
def opened_model(model: str) -> Iterator[tuple[PredictorSpec, Any]]:
    """Open a predictor: yield its specification and the loaded predictor.

    Args:   model: NAME@ALIAS, or a folder that a training or a calibration wrote.
    Raises: FoundryError: no such model, or a damaged registry. PredictorError: a damaged folder.
    """
    if Path(model).is_dir():
        spec = _spec_of(Path(model))
        yield spec, spec.load(Path(model))
        return
    with registered_model(*_named(model)) as registered:
        served = registered.unwrap_python_model()
        yield served.spec, served.predictor


def _spec_of(folder: Path) -> PredictorSpec:
    """Read the specification of the predictor in a folder."""
    from models.catalogue import predictor_named
    from models.model_files import read_model

    return predictor_named(read_model(folder)[0])


def ask_model(name: str, alias: str, question: dict[str, Any], location: str) -> dict[str, Any]:
    """Return the answer of a registered model to one row of its task's question.

    Args:   location: where the question comes from, for messages.
    Raises: FoundryError: no such model, a damaged registry, or a question that it cannot answer.
    """
    uri = find_deployment().tracking_uri
    local = find_local(uri, name, alias)
    if local is not None:
        return _answer_of(local, question, location)
    if alias == CHAMPION and is_new(uri):
        _require_champion(name)
    with registered_model(name, alias) as predictor:  # which registers weights that come with the project
        local = find_local(uri, name, alias)
        return (
            _answer_of(local, question, location)
            if local
            else _served(predictor, name, alias, question, location)
        )


def _require_champion(name: str) -> None:
    """Refuse the weights that come with the project if their gate does. Raises: FoundryError."""
    from models.catalogue import predictors

    reasons = [shipped_refusal(spec) for spec in predictors() if spec.name == name]
    if any(reasons):
        raise FoundryError(
            f"no champion of {name}: {reasons[0]}; accepted: {name}@candidate, or another model"
        )


def _served(predictor: Any, name: str, alias: str, question: dict[str, Any], location: str) -> dict[str, Any]:
    """Return the answer of a model whose files are not on this machine."""
    import pandas as pd
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        answer = predictor.predict(pd.DataFrame([question]))
    except (MlflowException, ValueError) as error:
        raise FoundryError(_refusal(location, error)) from error
    served = predictor.unwrap_python_model()
    version = str(MlflowClient().get_model_version_by_alias(name, alias).version)
    values = {str(name): _plain(value) for name, value in answer.iloc[0].items()}
    return {**values, **_provenance(served.spec, served.outcome, version)}


def _plain(value: Any) -> Any:
    """Return a value of an answer as JSON has it; NaN, which says that there is no answer, is null."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _answer_of(local: LocalModel, question: dict[str, Any], location: str) -> dict[str, Any]:
    """Return the answer from files on this machine, without MLflow."""
    outcome = read_outcome(local.folder)
    try:
        predictor = local.spec.load(local.folder)
        [answer] = _answers(local.spec, predictor, question, outcome, location)
    except ImportError as error:
        raise PredictorError(f"{error.name} is not installed; the extra `foundry` has it") from None
    values = {str(name): _plain(value) for name, value in answer.items()}
    return {**values, **_provenance(local.spec, outcome, local.version)}


def _answers(
    spec: PredictorSpec,
    predictor: Any,
    question: dict[str, Any],
    outcome: TrainOutcome | None,
    location: str,
) -> list[dict[str, Any]]:
    """Return the answer of a loaded predictor. Raises: FoundryError: it refuses the question."""
    try:
        return spec.answer(predictor, [question], outcome)
    except ValueError as error:
        raise FoundryError(_refusal(location, error)) from error


def _refusal(location: str, error: Exception) -> str:
    return f"{location} must be a program the model can read: {explain(error).removeprefix(_ROW)}"


def _provenance(spec: PredictorSpec, outcome: TrainOutcome | None, version: str) -> dict[str, Any]:
    """Return an answer's version, training data, level of information, and measured coverage."""
    known = {
        "version": version,
        "release": None if outcome is None else outcome.source,
        "level": spec.task.level,
        **({} if spec.checks_ranges else {"note": "this model does not compare a program with its training"}),
    }
    if outcome is None or not outcome.intervals:
        return known
    measured = (
        f"{target} {', '.join(f'{share[part]:.0%} of {part}' for part in MEASURED if part in share)}"
        for target, share in outcome.intervals.items()
    )
    return {**known, "intervals": f"made for {COVERED:.0%} of labels; measured: {'; '.join(measured)}"}


def _in_words(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with a sentence that says whether the question is like the training data."""
    names = [name for name in str(answer.get("outside_training") or "").split(", ") if name]
    if "outside_training" not in answer or ("note" in answer and not names):
        return answer
    return {**answer, "note": range_note(names)}


_ABSENT = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")
"""MLflow's codes for a name or an alias that is not registered."""


@contextmanager
def registered_model(name: str, alias: str) -> Iterator[Any]:
    """Load a registered model through MLflow.

    Raises: FoundryError: no such model, or a damaged registry.
    """
    deployment = find_deployment()
    require_whole_registry(deployment)
    if find_spec("mlflow") is None:
        raise FoundryError(
            f"no model registry: MLflow is not installed ({name}@{alias}); accepted: a folder of a model, "
            "the champion of weights that come with the project, or any model with the extra `foundry`"
        )
    from models.registry import RegistryStore, mlflow_at, promotion_rows, register_shipped

    store = RegistryStore(tracking_uri=deployment.tracking_uri, artifact_folder=deployment.artifact_folder)
    if deployment.finished is None or is_local(deployment.tracking_uri):
        register_shipped(store, name)
    with mlflow_at(store):
        import mlflow
        from mlflow.exceptions import MlflowException

        try:
            model = mlflow.pyfunc.load_model(f"models:/{name}@{alias}")
        except MlflowException as error:
            refused = [row.reason for row in promotion_rows(store, name) if row.decision == "refused"]
            why = f"; refused: {refused[-1]}" if alias == CHAMPION and refused else ""
            cause = "" if error.error_code in _ABSENT else f" ({explain(error)})"
            raise FoundryError(
                f"no such model: {name}@{alias}{cause}{why}; `simfoundry models` lists the registered ones"
            ) from error
        yield model
