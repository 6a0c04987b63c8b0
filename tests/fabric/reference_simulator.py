"""The rules of `pipelines.fabric.simulation.Problem` in plain Python, which steps through every cycle."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.fabric import Problem


@dataclass
class _Packet:
    flow: int
    hop: int
    arrived: int
    sent_at: int | None = None


@dataclass
class _Operation:
    busy_until: int = 0
    started: int = 0
    outputs_at: list[int] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)


def reference_finish(problem: Problem, *, last_cycle: int) -> list[int | None]:
    """Cycle in which each sample left the last operation; None for those still inside at `last_cycle`."""
    operations = [_Operation() for _ in problem.services]
    waiting: list[_Packet] = []
    travelling: list[tuple[int, _Packet]] = []  # when it arrives
    link_free_at = [0] * len(problem.latencies)
    inputs = [0] * len(problem.flows)  # whole packets that arrived at the operation
    promised = [0] * len(problem.flows)  # output packets of samples that are being worked on
    most_out = [route.output_samples * problem.packets for route in problem.flows]
    most_in = [route.input_samples * problem.packets for route in problem.flows]

    def occupied(flow: int, hop: int) -> int:
        """Packets that take room in the buffer before a hop, or in the input buffer after the last one."""
        on_the_way = sum(p.flow == flow and p.hop == hop for _, p in travelling)
        if hop == len(problem.flows[flow].links):
            return inputs[flow] + on_the_way
        here = sum(p.flow == flow and p.hop == hop for p in waiting)
        return here + on_the_way + (promised[flow] if hop == 0 else 0)

    for now in range(last_cycle + 1):
        for entry in [entry for entry in travelling if entry[0] == now]:
            travelling.remove(entry)
            packet = entry[1]
            if packet.hop == len(problem.flows[packet.flow].links):
                inputs[packet.flow] += 1
            else:
                waiting.append(_Packet(packet.flow, packet.hop, now))
        waiting = [p for p in waiting if p.sent_at is None or p.sent_at > now]
        for number, operation in enumerate(operations):
            for _ in [at for at in operation.outputs_at if at == now]:
                operation.finished.append(now)
                for flow, route in enumerate(problem.flows):
                    if route.source == number:
                        promised[flow] -= problem.packets
                        waiting += [_Packet(flow, 0, now) for _ in range(problem.packets)]
        for number, operation in enumerate(operations):
            before = [f for f, route in enumerate(problem.flows) if route.target == number]
            after = [f for f, route in enumerate(problem.flows) if route.source == number]
            if operation.busy_until > now or operation.started == problem.samples:
                continue
            if any(inputs[f] < problem.packets for f in before):
                continue
            if any(occupied(f, 0) + problem.packets > most_out[f] for f in after):
                continue
            for f in before:
                inputs[f] -= problem.packets
            for f in after:
                promised[f] += problem.packets
            operation.started += 1
            operation.busy_until = now + problem.services[number]
            operation.outputs_at.append(operation.busy_until + problem.delays[number])
        for link, free_at in enumerate(link_free_at):
            if free_at > now:
                continue
            ready = [
                p
                for p in waiting
                if p.sent_at is None
                and problem.flows[p.flow].links[p.hop] == link
                and occupied(p.flow, p.hop + 1)
                < (most_in[p.flow] if p.hop + 1 == len(problem.flows[p.flow].links) else problem.hop_packets)
            ]
            if not ready:
                continue
            packet = min(ready, key=lambda p: (p.arrived, p.flow))
            packet.sent_at = now + problem.flows[packet.flow].durations[packet.hop]
            link_free_at[link] = packet.sent_at
            arrives = packet.sent_at + problem.latencies[link]
            travelling.append((arrives, _Packet(packet.flow, packet.hop + 1, arrives)))
    sinks = set(range(len(operations))) - {route.source for route in problem.flows}
    return [
        max(operations[s].finished[n] for s in sinks)
        if all(len(operations[s].finished) > n for s in sinks)
        else None
        for n in range(problem.samples)
    ]
