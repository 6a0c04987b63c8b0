"""Questions to the engines and the registered models, with the options of the commands."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from assets.errors import needing
from simfoundry.questions import (
    CollectiveQuestion,
    ExploreQuestion,
    File,
    LabelQuestion,
    NetworkQuestion,
    Options,
    PlaceQuestion,
    PowerQuestion,
    PragmaQuestion,
    PredictQuestion,
    SimulateQuestion,
    TrainQuestion,
    VerilateQuestion,
    is_text,
)

Answer: TypeAlias = dict[str, Any]
P = ParamSpec("P")
Q = TypeVar("Q")


def _answers(question: Callable[P, Q]) -> Callable[[Callable[[Q], Answer]], Callable[P, Answer]]:
    """Give a function of a question the question's own arguments, with their types, defaults and meanings."""

    def decorate(answer: Callable[[Q], Answer]) -> Callable[P, Answer]:
        signature = inspect.signature(question, eval_str=True)

        @wraps(answer)
        def ask(*args: P.args, **kwargs: P.kwargs) -> Answer:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                accepted = ", ".join(signature.parameters)
                raise TypeError(f"{answer.__name__}() {error}; accepted: {accepted}") from None
            with needing("predict" if question is PredictQuestion else "foundry"):
                return answer(question(*args, **kwargs))

        ask.__doc__ = "\n".join(
            [f"{inspect.getdoc(answer)}\n\nArgs:", *map(_meaning, fields(cast(Any, question)))]
        )
        ask.__dict__["__signature__"] = signature.replace(return_annotation=Answer)
        return ask

    return decorate


def _meaning(declared: Field[Any]) -> str:
    unset = declared.metadata["unset"]
    return f"    {declared.name}: {declared.metadata['meaning']}" + (f" None: {unset}." if unset else "")


@_answers(LabelQuestion)
def label(question: LabelQuestion) -> Answer:
    """Take a C program through high-level synthesis, simulation and logic synthesis.

    Returns: the rows of `simfoundry label`; a failed design has its status and reason.
    Raises:  ProgramError, HlsError, SynthesisError, FoundryError: an input is not acceptable.
             ToolMissing: a tool is not installed; nothing was begun.
    """
    from simfoundry.commands.label import answer_label

    return answer_label(question)


@_answers(PredictQuestion)
def predict(question: PredictQuestion) -> Answer:
    """Ask a model about a C program under one configuration.

    The best champion is the one with the lowest reference error among those that know most of the design and
    can answer.

    Returns: a value per target with its interval, the engine's own estimates, the confidence, what is outside
             training, and where the answer is from: model, version, release and level of information.
    Raises:  FoundryError: no such model, or none can answer. ProgramError, HlsError: an input is not
             acceptable.
    """
    from simfoundry.commands.predict import predict_file, within_of

    options = question.options
    with _files(question.source, options, question.data) as (path, directives, values):
        return predict_file(
            file=path,
            top=question.top,
            directives=directives,
            memory_delay=options.memory_delay,
            clock=options.clock_ns,
            unsafe_math=options.unsafe_math,
            model=question.model,
            data=values,
            within=within_of(question),
        )


@_answers(PragmaQuestion)
def pragmas(question: PragmaQuestion) -> Answer:
    """Find the best directives of a C program, with a proven lower bound on its latency.

    Returns: the answer of `simfoundry pragmas --json`: `directives` as `Options.directives` takes them, the
             `recommended`, `plain` and best `designs`, the `bound` by part, the annotated `source`.
    Raises:  FoundryError, PragmaError, HlsError, ProgramError: an input is not acceptable.
    """
    from simfoundry.commands.pragmas import answer_pragmas, pragma_json

    with _files(question.source, Options(), None) as (path, *_):
        question = replace(question, source=path)
        return pragma_json(answer_pragmas(question), question)


@_answers(NetworkQuestion)
def network(question: NetworkQuestion) -> Answer:
    """Estimate the latency of every flow of a network.

    Returns: the answer of `simfoundry network --json`.
    Raises:  FoundryError, NetworkError: an option, a file or the load is not acceptable.
    """
    from simfoundry.commands.network import answer_network

    return answer_network(question)


@_answers(CollectiveQuestion)
def collective(question: CollectiveQuestion) -> Answer:
    """Estimate how long collective operations of jobs take on the hosts of a network.

    Returns: the answer of `simfoundry collective --json`.
    Raises:  FoundryError, NetworkError: an option or a file is not acceptable.
    """
    from simfoundry.commands.collective import answer_collective

    return answer_collective(question)


@_answers(PlaceQuestion)
def place(question: PlaceQuestion) -> Answer:
    """Place and route a dataflow graph or a neural network on a reconfigurable fabric.

    Returns: the answer of `simfoundry place --json`.
    Raises:  FabricError, FoundryError: an input is not acceptable, or nothing fits.
    """
    from simfoundry.commands.place import answer_place

    return answer_place(question)


@_answers(PowerQuestion)
def power(question: PowerQuestion) -> Answer:
    """Estimate power, energy and cycles of a neural network in hardware, from compilation alone.

    Returns: the answer of `simfoundry power --json`.
    Raises:  AcceleratorError, FoundryError: an input is not acceptable.
    """
    from simfoundry.commands.power import answer_power

    return answer_power(question)


@_answers(ExploreQuestion)
def explore(question: ExploreQuestion) -> Answer:
    """Find accelerators for a neural network within a power budget: the Pareto front of power and time.

    Returns: the answer of `simfoundry explore --json`.
    Raises:  AcceleratorError, FoundryError: an input is not acceptable, or none keeps the budget.
    """
    from simfoundry.commands.power import answer_explore

    return answer_explore(question)


@_answers(SimulateQuestion)
def simulate(question: SimulateQuestion) -> Answer:
    """Simulate a design in Verilog, SystemVerilog or FIRRTL, cycle by cycle.

    Returns: the answer of `simfoundry simulate --json`.
    Raises:  RtlError, FoundryError: an input is not acceptable. ToolMissing: a tool is not installed.
    """
    from simfoundry.commands.simulate import answer_simulate

    return answer_simulate(question)


@_answers(VerilateQuestion)
def verilate(question: VerilateQuestion) -> Answer:
    """Translate a design to a C++ library with the interface of a model of Verilator.

    Returns: the answer of `simfoundry verilate --json`.
    Raises:  RtlError, FoundryError: an input is not acceptable. ToolMissing: a tool is not installed.
    """
    from simfoundry.commands.verilate import answer_verilate

    return answer_verilate(question)


@_answers(TrainQuestion)
def train(question: TrainQuestion) -> Answer:
    """Train a predictor on releases or a suite, score it on its reference set, and register it.

    Returns: the answer of `simfoundry train --json`.
    Raises:  FoundryError, PredictorError, DatasetError: an input is not acceptable.
    """
    from simfoundry.commands.models import train_model

    return train_model(question)


@contextmanager
def _files(
    source: File, options: Options, data: Mapping[str, Any] | Path | None
) -> Iterator[tuple[Path, Path | None, Path | None]]:
    """Yield the source, the directives and the data as files; texts are files while the block runs."""
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        path = source
        if is_text(source):
            path = _written(Path(folder) / "program.c", str(source))
        directives = options.directives
        if not isinstance(directives, Path):
            listed = json.dumps([dict(d) for d in directives])
            directives = _written(Path(folder) / "directives.json", listed) if directives else None
        if data is not None and not isinstance(data, Path):
            data = _written(Path(folder) / "data.json", json.dumps(dict(data)))
        yield Path(path), directives, data


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
