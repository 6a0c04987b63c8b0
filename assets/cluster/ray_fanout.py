"""Ray behind `run_all`: batches of items on the nodes of a cluster, repeated where a node or worker ends."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, TypeVar

from assets.engines import ROOT, machine_tools
from assets.errors import FoundryError, needing
from assets.settings import AUTO, Cluster
from assets.step import Markdown, tree_hash
from pipelines.base.workers import Outcome, Workload

Item = TypeVar("Item")
Result = TypeVar("Result")

AUTH_MODE = "RAY_AUTH_MODE"
TOKEN_VARIABLE = "RAY_AUTH_TOKEN"  # noqa: S105
_TOKEN_VARIABLES = (TOKEN_VARIABLE, "RAY_AUTH_TOKEN_PATH")
LOOK_S = 1.0
KNOCK_S = 10.0
WITHOUT_NODES_S = 60.0
"""How long a run waits for a node that can take its items."""
LATE = 4
"""A batch that takes so many times what was expected is given to a second worker when one is free."""
LATE_LEAST_S = 30.0
LIBRARIES = ("lightgbm", "torch")
"""What trained weights depend on, beside the tools of rows."""
ENGINES = "pipelines."
WARNINGS_KEPT, WARNING_LENGTH = 5, 300
"""Of a batch that a worker logged; its own log is on its node."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_LOG = logging.getLogger(__name__)


@contextmanager
def connected(cluster: Cluster) -> Generator[RayFanout]:
    """Connect to a cluster, or start one of this machine alone, for the block.

    Raises: ExtraMissing: Ray is not installed. FoundryError: no cluster answers at the address, it is of
            another version, or none of its nodes can take an item.
    """
    _send_token(cluster.address)
    ray = _ray()
    if ray.is_initialized():  # by an outer block
        fanout = RayFanout(cluster)
        fanout.require_node()
        yield fanout
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    is_local = cluster.address == AUTO
    local = {"address": "local", "include_dashboard": False}
    try:
        if not is_local:
            _knock(cluster.address)
        ray.init(
            **(local if is_local else {"address": cluster.address}),
            configure_logging=False,
            log_to_driver=False,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:300]
        raise FoundryError(
            f"no Ray cluster answers at {cluster.address}: {reason}; accepted: host:port of a running head "
            f"(`simfoundry node`) with its token ({_token_source()}), or {AUTO} for one on this machine"
        ) from error
    if current_thread() is main_thread():
        for number, handler in handlers.items():  # Ray sets its own, which leaves tools behind
            signal.signal(number, handler)
    try:
        fanout = RayFanout(cluster)
        fanout.require_node()
        yield fanout
    finally:
        ray.shutdown()


@contextmanager
def _interrupts() -> Generator[None]:
    """Raise the exception of a signal's handler as itself.

    Ray's calls know KeyboardInterrupt alone. They make a SystemError of the interruption that Dagster's
    handler raises, and a step that ends so would be repeated instead of ended.
    """
    try:
        yield
    except SystemError as error:
        if error.__cause__ is None or isinstance(error.__cause__, Exception):
            raise
        raise error.__cause__ from None


def _send_token(address: str) -> None:
    """Send the token of the environment or of the home folder; Ray sends none to a head unless it is told."""
    if address != AUTO and _has_token():
        os.environ.setdefault(AUTH_MODE, "token")


def _has_token() -> bool:
    return any(os.environ.get(name) for name in _TOKEN_VARIABLES) or token_file().is_file()


def _token_source() -> str:
    """Return where the token is read from, without its value."""
    for name in _TOKEN_VARIABLES:
        if os.environ.get(name):
            return f"here {name}"
    path = token_file()
    return f"here {path}" if path.is_file() else f"here none: neither {TOKEN_VARIABLE} nor {path}"


def token_file() -> Path:
    """Return the file of the token that nodes and drivers know each other by; Ray reads it, too."""
    return Path.home() / ".ray" / "auth_token"


def _knock(address: str) -> None:
    """Connect and hang up; Ray itself would try for minutes.

    Raises: OSError: nobody answers.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), KNOCK_S):
        pass


def _ray() -> Any:
    """Return the module; it asks for nothing and reports nothing."""
    os.environ.update({name: os.environ.get(name, value) for name, value in _QUIET.items()})
    with needing("cluster"):
        import ray  # lazy import: takes 1 s
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


@cache
def node_state() -> Mapping[str, str]:
    """Return what rows and weights depend on beside their inputs: nodes of a cluster must have one state.

    Rows name the tools of the driver, so a node with another one would falsify them.
    """
    code = {room: tree_hash(ROOT / room)[:12] for room in ("models", "pipelines")}
    libraries = {name: version(name) for name in LIBRARIES}
    return {**code, "Python": ".".join(map(str, sys.version_info[:2])), **libraries, **machine_tools()}


@dataclass(frozen=True, slots=True)
class _Finished:
    """What a worker returns of a batch.

    Attributes: warnings: that it logged, for the log of the process that handed the batch over.
    """

    outcomes: Sequence[Outcome[Any]]
    node: str
    state: Mapping[str, str]
    busy_s: float
    warnings: Sequence[str] = ()


class _Warnings(logging.Handler):
    """Keeps the first warnings of the engines in a batch: damaged entries, a store that was away."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(ENGINES) and len(self.lines) < WARNINGS_KEPT:
            self.lines.append(record.getMessage()[:WARNING_LENGTH])


@contextmanager
def _warnings_kept() -> Generator[list[str]]:
    """Yield the warnings that are logged in the block."""
    handler, root = _Warnings(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler.lines
    finally:
        root.removeHandler(handler)


def work_on(work: Callable[[Any], Outcome[Any]], items: Sequence[Any], state: Mapping[str, str]) -> _Finished:
    """Work on a batch of items in a worker of a node, unless its state differs from the driver's."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    own = node_state()
    start = time.monotonic()
    with _warnings_kept() as warnings:
        outcomes = [work(item) for item in items] if own == state else []
    busy_s = time.monotonic() - start
    return _Finished(outcomes=outcomes, node=node, state=own, busy_s=busy_s, warnings=warnings)


@dataclass(kw_only=True, eq=False)
class _Batch:
    """Items under way: attempts that have failed, and when the last one was handed over."""

    places: tuple[int, ...]
    cost: float
    attempts: int = 0
    is_large: bool = False
    begun_s: float = 0.0
    references: list[Any] = field(default_factory=list[Any])


@dataclass(kw_only=True)
class NodeLoad:
    """What a node has done: batches, items and seconds of work."""

    batches: int = 0
    items: int = 0
    busy_s: float = 0.0


class RayFanout:
    """Batches of items as tasks of a Ray cluster, those that cost most first.

    The first batches have one item. Later ones have as many as took `batch_s` so far, and never so many that
    a processor would have nothing left to do. Ray's own retries are off: a batch whose worker or node ended
    is handed over again here, item by item, so that every fault is named.

    Attributes:
        loads: by node; faults: one line each, in order.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._ray = _ray()
        self._cluster = cluster
        self.loads: dict[str, NodeLoad] = {}
        self.faults: list[str] = []
        self._names: dict[str, str] = {}
        self._task = self._ray.remote(work_on)

    # ---- nodes -------------------------------------------------------------------------------------------

    def require_node(self) -> None:
        """Raise FoundryError unless a node can take an item."""
        if not self._slots():
            nodes = "; ".join(
                f"{node['NodeManagerAddress']}: {node['Resources'].get('CPU', 0):g} CPUs, "
                f"{node['Resources'].get('memory', 0) / 2**30:.1f} GiB"
                for node in self._nodes()
            )
            raise FoundryError(
                f"no node of the cluster has 1 CPU and {self._cluster.memory_gib:g} GiB for an item "
                f"(cluster.memory_gib); it has {nodes or 'no nodes'}"
            )

    def _nodes(self) -> list[Mapping[str, Any]]:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        for node in nodes:
            self._names[node["NodeID"]] = f"{node['NodeManagerAddress']} {node['NodeID'][:6]}"
        return nodes

    def _slots(self) -> int:
        """Return how many items the nodes that are alive can work on at once."""
        return sum(
            int(
                min(
                    node["Resources"].get("CPU", 0),
                    node["Resources"].get("memory", 0) // self._memory_bytes,
                )
            )
            for node in self._nodes()
        )

    @property
    def _memory_bytes(self) -> int:
        return int(self._cluster.memory_gib * 2**30)

    # ---- one workload ------------------------------------------------------------------------------------

    def outcomes(self, workload: Workload[Item, Result]) -> Generator[tuple[int, Outcome[Result]]]:
        """Yield the place and the outcome of every item, as their batches end.

        Raises: what the work raises, after the batches under way have ended. FoundryError: an item ended its
                worker every time, a node has other code or tools, or there are no nodes any more.
        """
        if workload.items:
            yield from _Spreading(self, workload).run()

    def submit(self, work: Any, items: Sequence[Any], *, is_large: bool) -> Any:
        """Queue a batch and return its reference.

        Args: is_large: whether it gets a whole node's memory, because it may have lacked some.
        """
        memory = self._memory_bytes
        if is_large:
            working = [node["Resources"] for node in self._nodes() if node["Resources"].get("CPU", 0) >= 1]
            memory = max((int(own.get("memory", 0)) for own in working), default=memory)
        options = self._task.options(num_cpus=1, memory=memory, max_retries=0, scheduling_strategy="SPREAD")
        return options.remote(work, items, node_state())

    def note(self, finished: _Finished) -> None:
        """Count a batch for its node."""
        load = self.loads.setdefault(self._names.get(finished.node, finished.node[:6]), NodeLoad())
        load.batches += 1
        load.items += len(finished.outcomes)
        load.busy_s += finished.busy_s

    def note_fault(self, text: str) -> None:
        """Keep a fault and log it."""
        self.faults.append(text)
        _LOG.warning("%s", text)

    def notes(self) -> dict[str, Any]:
        """Return what the metadata of a step shows: nodes with their load, and faults."""
        if not self.loads:
            return {}
        lines = ["| node | batches | items | busy s |", "| --- | ---: | ---: | ---: |"]
        lines += [
            f"| {name} | {load.batches} | {load.items} | {load.busy_s:.1f} |"
            for name, load in sorted(self.loads.items())
        ]
        notes: dict[str, Any] = {"nodes": Markdown("\n".join(lines))}
        if self.faults:
            counts = Counter(self.faults)
            notes["faults"] = Markdown("\n".join(f"* {n} × {text}" for text, n in counts.items()))
        return notes


class _Spreading:
    """One workload on its way through a cluster."""

    def __init__(self, fanout: RayFanout, workload: Workload[Any, Any]) -> None:
        self._fanout = fanout
        self._ray = _ray()
        self._workload = workload
        self._work = self._ray.put(workload.work)
        self._waiting = deque(workload.order)
        self._again: deque[_Batch] = deque()
        self._running: dict[Any, _Batch] = {}
        self._cost_left = math.fsum(workload.costs)
        self._done_cost = self._done_s = 0.0
        self._failure: BaseException | None = None
        self._nodes_seen_s = time.monotonic()

    def run(self) -> Generator[tuple[int, Outcome[Any]]]:
        """Yield outcomes until no batch is left."""
        with _interrupts():
            yield from self._run()

    def _run(self) -> Generator[tuple[int, Outcome[Any]]]:
        try:
            while self._waiting or self._again or self._running:
                slots = self._slots()
                self._hand_over(slots)
                if not self._running:
                    if self._failure is not None:
                        break
                    time.sleep(LOOK_S)
                    continue
                self._repeat_late(slots)
                ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=LOOK_S)
                for reference in ready:
                    yield from self._take(reference)
            if self._failure is not None:
                raise self._failure
        finally:
            for reference in self._running:
                self._cancel(reference)

    def _slots(self) -> int:
        slots = self._fanout._slots()
        now = time.monotonic()
        if slots:
            self._nodes_seen_s = now
        elif now - self._nodes_seen_s > WITHOUT_NODES_S:
            self._fanout.require_node()
        return slots

    def _hand_over(self, slots: int) -> None:
        """Keep every processor busy, and one batch in two waiting for it."""
        while self._failure is None and slots and len(self._running) < slots + (slots + 1) // 2:
            batch = self._again.popleft() if self._again else self._next(slots)
            if batch is None:
                return
            self._submit(batch)

    def _next(self, slots: int) -> _Batch | None:
        if not self._waiting:
            return None
        most = self._cost_left / (2 * slots)
        if self._done_s > 0:
            most = min(most, self._fanout._cluster.batch_s * self._done_cost / self._done_s)
        else:
            most = 0.0
        places = [self._waiting.popleft()]
        cost = self._workload.costs[places[0]]
        while self._waiting and cost + self._workload.costs[self._waiting[0]] <= most:
            places.append(self._waiting.popleft())
            cost += self._workload.costs[places[-1]]
        self._cost_left -= cost
        return _Batch(places=tuple(places), cost=cost)

    def _submit(self, batch: _Batch) -> None:
        items = [self._workload.items[i] for i in batch.places]
        reference = self._fanout.submit(self._work, items, is_large=batch.is_large)
        batch.begun_s = time.monotonic()
        batch.references.append(reference)
        self._running[reference] = batch

    def _repeat_late(self, slots: int) -> None:
        """Give a batch that takes far longer than expected to a second worker, once, when one is free."""
        if self._waiting or self._again or len(self._running) >= slots or not self._done_s:
            return
        for batch in {id(batch): batch for batch in self._running.values()}.values():
            expected_s = batch.cost * self._done_s / max(self._done_cost, 1e-12)
            late_s = max(LATE_LEAST_S, LATE * expected_s)
            if len(batch.references) == 1 and time.monotonic() - batch.begun_s > late_s:
                self._fanout.note_fault(f"{self._workload.step}: a batch is late and was handed over twice")
                self._submit(batch)
                return

    def _take(self, reference: Any) -> Generator[tuple[int, Outcome[Any]]]:
        """Yield the outcomes of a batch that ended, or hand it over again."""
        from ray.exceptions import OwnerDiedError, RayError, RayTaskError, TaskCancelledError

        batch = self._running.pop(reference, None)
        if batch is None:  # its twin was first
            return
        batch.references.remove(reference)
        try:
            finished: _Finished = self._ray.get(reference)
        except RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            self._give_up(batch, _unreached() if isinstance(cause, OwnerDiedError) else cause)
            return
        except TaskCancelledError:
            return
        except RayError as error:
            self._repair(batch, error)
            return
        if differing := _differences(finished.state, node_state()):
            node = self._fanout._names.get(finished.node, finished.node[:6])
            problem = f"node {node} differs from this process: {differing}; accepted: one version everywhere"
            self._give_up(batch, FoundryError(problem))
            return
        self._cancel_twins(batch)
        self._fanout.note(finished)
        for text in finished.warnings:
            self._fanout.note_fault(f"{self._workload.step}: {text}")
        self._done_cost += batch.cost
        self._done_s += finished.busy_s
        yield from zip(batch.places, finished.outcomes, strict=True)

    def _give_up(self, batch: _Batch, error: BaseException) -> None:
        """End the handing over; the batches under way end first."""
        self._cancel_twins(batch)
        if self._failure is None:
            self._failure = error
            self._waiting.clear()
            self._again.clear()

    def _repair(self, batch: _Batch, error: Exception) -> None:
        """Repeat the items of a batch whose worker or node ended, one at a time."""
        reason = _reason(error)
        self._fanout.note_fault(f"{self._workload.step}: {reason}")
        if batch.references:  # its twin is under way
            return
        if batch.attempts < self._fanout._cluster.retries:
            costs = self._workload.costs
            self._again.extend(
                _Batch(
                    places=(place,),
                    cost=costs[place],
                    attempts=batch.attempts + 1,
                    is_large=len(batch.places) == 1 and _lacked_memory(error),
                )
                for place in batch.places
            )
            return
        [place, *_] = batch.places
        self._give_up(
            batch,
            FoundryError(
                f"{self._workload.step}: item {place + 1} of {len(self._workload.items)} ended its worker "
                f"{batch.attempts + 1} times, last by: {reason}; finished work is in the cache"
            ),
        )

    def _cancel_twins(self, batch: _Batch) -> None:
        for twin in batch.references:
            self._running.pop(twin, None)
            self._cancel(twin)
        batch.references.clear()

    def _cancel(self, reference: Any) -> None:
        """End a task and its tools; the kernel ends a tool with the worker that waits for it."""
        self._ray.cancel(reference, force=True)


def _unreached() -> FoundryError:
    """Return what is wrong when nodes take this process, which hands over the work, for one that ended."""
    sends = os.environ.get(AUTH_MODE) == "token"
    reason = "it sends a token and the nodes have none, or another one" if sends else "is its address theirs?"
    return FoundryError(
        f"the nodes of the cluster cannot reach this process: {reason}; accepted: nodes with the "
        f"token of the head, or {AUTH_MODE}=disabled for a cluster without one"
    )


def _differences(other: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Return what another node has otherwise; empty where nothing is."""
    names = [name for name in sorted({*other, *own}) if other.get(name) != own.get(name)]
    return ", ".join(f"{name} {other.get(name)} there, {own.get(name)} here" for name in names)


def _lacked_memory(error: Exception) -> bool:
    from ray.exceptions import OutOfMemoryError

    return isinstance(error, OutOfMemoryError)


def _reason(error: Exception) -> str:
    """Return what ended a batch, in a few words."""
    kinds = {
        "OutOfMemoryError": "a worker was ended because its node had no memory left",
        "NodeDiedError": "a node ended",
        "WorkerCrashedError": "a worker ended",
        "LocalRayletDiedError": "a node ended",
        "ObjectLostError": "the node with a result ended",
        "OwnerDiedError": "the node with a result ended",
    }
    known = next((kinds[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in kinds), None)
    return known or f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
