"""The C++ test bench of a design: memories with delays, start, done, and a binary file in and out.

Cycle t lasts until clock edge t. A read whose address stands in cycle t delivers its data in cycle t + read
delay; a write in cycle t is seen by reads from cycle t + write delay on. Data ports carry garbage in all
other cycles, and registers begin with random bits, so that a design which samples at the wrong time or
forgets to reset gives wrong outputs. `start` is high in cycle 0; the latency is the cycle in which `done` is
high.

Values of every type pass as their bits, in unsigned variables of the same width. Each bank has a read and a
write port of its own into the storage of its array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.c.signature import Bank, Interface
from pipelines.rtl.simulation.exchange import written_arrays

CONTROL_PORTS = ("clk", "rst", "start", "done")

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PORT = re.compile(
    r"^(?:(input|output)\s+)?(?:(?:wire|reg|logic)\s+)?(?:signed\s+)?(?:\[\s*(\d+)\s*:\s*0\s*\]\s*)?(\w+)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One port: `output` is seen from the module."""

    name: str
    output: bool
    width_bits: int


def module_ports(verilog: str, module: str) -> dict[str, Port]:
    """Return the ports of a module by name, in order.

    Args:    verilog: text; module: one of its modules, with an ANSI header whose ranges are `[n:0]`.
    Returns: empty for a module that is missing or has another kind of header.
    """
    text = _COMMENT.sub(" ", verilog)
    header = re.search(rf"\bmodule\s+{re.escape(module)}\s*\(([^()]*)\)\s*;", text)
    ports: dict[str, Port] = {}
    direction, width = "input", "0"
    for item in header.group(1).split(",") if header else ():
        matched = _PORT.match(" ".join(item.split()))
        if matched is None:
            return {}
        if matched.group(1) is not None:  # a bare name has the direction and the width of the one before
            direction, width = matched.group(1), matched.group(2) or "0"
        name = matched.group(3)
        ports[name] = Port(name=name, output=direction == "output", width_bits=int(width) + 1)
    return ports


def missing_control(ports: dict[str, Port]) -> str | None:
    """Tell why a module cannot be driven, None when it can."""
    missing = [name for name in CONTROL_PORTS if name not in ports]
    return f"design lacks ports {', '.join(missing)}; needed: {', '.join(CONTROL_PORTS)}" if missing else None


EXIT_OUT_OF_BOUNDS = 3
EXIT_CYCLE_LIMIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTiming:
    """Delays of the external memories, in cycles, at least 1."""

    read_delay_cycles: int
    write_delay_cycles: int


_PRELUDE = """\
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
double sc_time_stamp() { return 0; }

// Logic that Verilator takes for a loop, such as a vector whose bits depend on other bits of it, is computed
// when the loop's variables change; Verilator 5.006 misses changes that come from an input. Without the flag
// it computes all of it once more. Models without such logic have no flag.
template <typename Root> static auto wake_loops(Root* root, int) -> decltype((void)root->__VactDidInit) {
    root->__VactDidInit = 0;
}
template <typename Root> static void wake_loops(Root*, long) {}
template <typename Model> static void evaluate(Model* top) {
    wake_loops(top->rootp, 0);
    top->eval();
}

static const char* const kBounds = "the design touches an element outside array %s at cycle %lld\\n";

// One bank: a read and a write port into the storage of its array. `element` gives the place of an address
// there, or -1.
template <typename T>
struct Memory {
    const char* name;
    T* cells;
    int64_t (*element)(int64_t);
    int read_delay, write_delay;
    int64_t reads = 0, written = 0;
    struct Write { int64_t visible; int64_t place; T value; };
    std::vector<Write> writes;   // pending writes, oldest first from `head`
    size_t head = 0;
    std::vector<T> ring;         // data by delivery cycle modulo its size
    std::vector<int64_t> due;    // cycle the slot's data belongs to
    Memory(const char* n, T* c, int64_t (*e)(int64_t), int r, int w)
        : name(n), cells(c), element(e), read_delay(r), write_delay(w), ring(r + 1), due(r + 1, -1) {}
    int64_t place(int64_t address, int64_t cycle) const {
        int64_t found = element(address);
        if (found >= 0) return found;
        std::fprintf(stderr, kBounds, name, (long long)cycle);
        std::exit(3);
    }
    void settle(int64_t cycle) {
        while (head < writes.size() && writes[head].visible <= cycle) {
            cells[writes[head].place] = writes[head].value;
            ++head;
        }
        if (head > 4096) { writes.erase(writes.begin(), writes.begin() + head); head = 0; }
    }
    void write(int64_t cycle, bool enable, int64_t address, T value) {
        if (!enable) return;
        ++written;
        writes.push_back({cycle + write_delay, place(address, cycle), value});
    }
    void read(int64_t cycle, bool enable, int64_t address) {
        if (!enable) return;
        ++reads;
        int64_t at = place(address, cycle);
        settle(cycle);
        size_t slot = (cycle + read_delay) % ring.size();
        ring[slot] = cells[at];
        due[slot] = cycle + read_delay;
    }
    T data(int64_t cycle) const {
        size_t slot = cycle % ring.size();
        return due[slot] == cycle ? ring[slot] : (T)(0xA5A5A5A5A5A5A5A5ull ^ (uint64_t)cycle);
    }
};

template <typename T> static void get(FILE* f, T* to, size_t count) {
    if (std::fread(to, sizeof(T), count, f) == count) return;
    std::fprintf(stderr, "short input\\n");
    std::exit(5);
}
template <typename T> static void put(FILE* f, const T* from, size_t count) {
    if (std::fwrite(from, sizeof(T), count, f) == count) return;
    std::fprintf(stderr, "short output\\n");
    std::exit(5);
}
"""


def member(port: str) -> str:
    """Return the name of a port in Verilator's class, which encodes two underscores."""
    return port.replace("__", "___05F")


def element_lines(bank: Bank) -> list[str]:
    """Return C statements that find the element of an `address` in a bank; -1 past the array's end."""
    lines = [f"if (address >= {bank.element_count}) return -1;"]
    if all(d.style == "whole" for d in bank.dimensions):
        return [*lines, "return address;"]
    lines.append("int64_t place = 0, stride = 1, index;")
    for size, dimension in reversed(list(zip(bank.shape, bank.dimensions, strict=True))):
        first, step = dimension.element(0), dimension.element(1) - dimension.element(0)
        lines.append(f"index = {first} + {step} * (address % {dimension.size}); address /= {dimension.size};")
        lines.append(f"if (index >= {size}) return -1;")
        lines.append(f"place += index * stride; stride *= {size};")
    return [*lines, "return place;"]


@dataclass(slots=True)
class _Bench:
    """The text of one test bench; only ports that the design has are driven."""

    interface: Interface
    banks: Sequence[Bank]
    ports: dict[str, Port]
    timing: MemoryTiming
    starts_zero: bool = False

    def bits_type(self, argument: str) -> str:
        return next(a.type.bits_c_name for a in self.interface.arrays if a.name == argument)

    def connected(self, last: str) -> list[Bank]:
        """Return the banks whose port of that ending the design has."""
        return [b for b in self.banks if f"m_{b.port}_{last}" in self.ports]

    def element_functions(self) -> list[str]:
        return [
            f"static int64_t element_{b.port}(int64_t address) {{\n    "
            + "\n    ".join(element_lines(b))
            + "\n}"
            for b in self.banks
        ]

    def storage(self) -> list[str]:
        lines = [
            f"    std::vector<{a.type.bits_c_name}> a_{a.name}({a.element_count});"
            for a in self.interface.arrays
        ]
        delays = f"{self.timing.read_delay_cycles}, {self.timing.write_delay_cycles}"
        lines += [
            f"    Memory<{self.bits_type(b.argument)}> m_{b.port}"
            f'("{b.port}", a_{b.argument}.data(), element_{b.port}, {delays});'
            for b in self.banks
        ]
        return lines

    def inputs(self) -> list[str]:
        lines = ['    FILE* in = std::fopen("input.bin", "rb"); if (!in) return 5;']
        lines += [f"    get(in, a_{a.name}.data(), {a.element_count});" for a in self.interface.arrays]
        for a in self.interface.scalars:
            port = f"s_{a.name}"
            drive = f"top->{member(port)} = v;" if port in self.ports else ""
            lines.append(f"    {{ {a.type.bits_c_name} v; get(in, &v, 1); {drive} }}")
        return [*lines, "    std::fclose(in);"]

    def cycle(self) -> list[str]:
        lines = ["        top->start = cycle == 0;"]
        for b in self.connected("rdata"):
            lines.append(f"        top->{member(f'm_{b.port}_rdata')} = m_{b.port}.data(cycle);")
        lines.append("        evaluate(top);")
        lines.append("        if (top->done) break;")
        lines.append(f"        if (cycle >= limit) return {EXIT_CYCLE_LIMIT};")
        for b in self.connected("re"):
            signals = (f"top->{member(f'm_{b.port}_{part}')}" for part in ("re", "raddr"))
            lines.append(f"        m_{b.port}.read(cycle, {', '.join(signals)});")
        for b in self.connected("we"):
            signals = (f"top->{member(f'm_{b.port}_{part}')}" for part in ("we", "waddr", "wdata"))
            lines.append(f"        m_{b.port}.write(cycle, {', '.join(signals)});")
        lines.append("        top->clk = 1; evaluate(top); top->clk = 0;")
        return lines

    def outputs(self) -> list[str]:
        result = "(uint64_t)top->result" if "result" in self.ports else "0"
        lines = ['    FILE* out = std::fopen("output.bin", "wb"); if (!out) return 5;']
        lines.append(f"    uint64_t head[2] = {{(uint64_t)cycle, {result}}}; put(out, head, 2);")
        for b in self.banks:
            lines.append(f"    m_{b.port}.settle(cycle);")
            lines.append(f"    put(out, &m_{b.port}.reads, 1); put(out, &m_{b.port}.written, 1);")
        lines += [
            f"    put(out, a_{a.name}.data(), {a.element_count});" for a in written_arrays(self.interface)
        ]
        return [*lines, "    return std::fclose(out) ? 5 : 0;"]

    def text(self, model_class: str) -> str:
        lines = [
            *self.element_functions(),
            "int main(int argc, char** argv) {",
            "    if (argc != 2) return 5;",
        ]
        lines.append("    const long long limit = std::atoll(argv[1]);")
        lines.append(f"    Verilated::randReset({0 if self.starts_zero else 2}); Verilated::randSeed(1);")
        lines.append(f"    auto* top = new {model_class}; int64_t cycle = 0;")
        lines += [*self.storage(), *self.inputs()]
        lines += [
            "    top->clk = 0; top->rst = 1; top->start = 0; evaluate(top);",
            "    for (int k = 0; k < 2; ++k) { top->clk = 1; evaluate(top); top->clk = 0; evaluate(top); }",
            "    top->rst = 0;",
            "    for (;; ++cycle) {",
        ]
        lines += [*self.cycle(), "    }", *self.outputs(), "}"]
        return _PRELUDE + "\n" + "\n".join(lines) + "\n"


def harness_text(
    interface: Interface,
    model_class: str,
    timing: MemoryTiming,
    *,
    banks: Sequence[Bank],
    ports: dict[str, Port],
    starts_zero: bool = False,
) -> str:
    """Return the C++ of the test bench.

    Args:    model_class: Verilator's class; its header and sources are included by name.
             banks: of every array argument; ports: those the design has.
             starts_zero: registers and memories start as zero; else as random numbers.
    """
    bench = _Bench(interface=interface, banks=banks, ports=ports, timing=timing, starts_zero=starts_zero)
    return bench.text(model_class)
