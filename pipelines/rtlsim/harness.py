"""The C++ test bench of a design: memories with delays, start, done, and a binary file in and out.

Belongs here: the generated text and the layout of the two files. Does not: running anything.

Cycle t lasts until clock edge t. A read whose address stands in cycle t delivers its data in cycle t + read
delay; a write in cycle t is seen by reads from cycle t + write delay on. Data ports carry garbage in all
other cycles, and registers begin with random bits, so that a design which samples at the wrong time or
forgets to reset gives wrong outputs. `start` is high in
cycle 0; the latency is the cycle in which `done` is high.

Files are little-endian: for each array in order its elements, for each scalar one element (input); the
latency as int64, the result as int64, then each written array (output).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pipelines.interface import Argument, DataSet, Interface

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

static const char* const kBounds = "the design touches an element outside array %s at cycle %lld\\n";

// One external array with a read and a write port.
template <typename T, typename U>
struct Memory {
    const char* name;
    int64_t size;
    int read_delay, write_delay;
    std::vector<T> cells;
    struct Write { int64_t visible; int64_t address; T value; };
    std::vector<Write> writes;   // ring of pending writes, oldest first from `head`
    size_t head = 0;
    std::vector<U> ring;         // data by delivery cycle modulo its size
    std::vector<int64_t> due;    // cycle the slot's data belongs to
    Memory(const char* n, int64_t s, int r, int w)
        : name(n), size(s), read_delay(r), write_delay(w), cells(s), ring(r + 1), due(r + 1, -1) {}
    void check(int64_t address, int64_t cycle) const {
        if (address < size) return;
        std::fprintf(stderr, kBounds, name, (long long)cycle);
        std::exit(3);
    }
    void settle(int64_t cycle) {
        while (head < writes.size() && writes[head].visible <= cycle) {
            cells[writes[head].address] = writes[head].value;
            ++head;
        }
        if (head > 4096) { writes.erase(writes.begin(), writes.begin() + head); head = 0; }
    }
    void write(int64_t cycle, bool enable, int64_t address, U value) {
        if (!enable) return;
        check(address, cycle);
        writes.push_back({cycle + write_delay, address, (T)value});
    }
    void read(int64_t cycle, bool enable, int64_t address) {
        if (!enable) return;
        check(address, cycle);
        settle(cycle);
        size_t slot = (cycle + read_delay) % ring.size();
        ring[slot] = (U)cells[address];
        due[slot] = cycle + read_delay;
    }
    U data(int64_t cycle) const {
        size_t slot = cycle % ring.size();
        return due[slot] == cycle ? ring[slot] : (U)(0xA5A5A5A5A5A5A5A5ull ^ (uint64_t)cycle);
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
    """Name of a port in the class Verilator makes, which writes two underscores in another way."""
    return port.replace("__", "___05F")


def _array_type(argument: Argument) -> str:
    return f"Memory<{argument.type.c_name}, uint{argument.type.width_bits}_t>"


def harness_text(interface: Interface, model_class: str, timing: MemoryTiming) -> str:
    """C++ of the test bench.

    Args:    model_class: class Verilator made; its header and sources are included by name.
    """
    r, w = timing.read_delay_cycles, timing.write_delay_cycles
    lines = ["int main(int argc, char** argv) {", "    if (argc != 2) return 5;"]
    lines.append("    const long long limit = std::atoll(argv[1]);")
    lines.append("    Verilated::randReset(2); Verilated::randSeed(1);")
    lines.append(f"    auto* top = new {model_class}; int64_t cycle = 0;")
    for a in interface.arrays:
        lines.append(f'    {_array_type(a)} m_{a.name}("{a.name}", {a.element_count}, {r}, {w});')
    lines.append('    FILE* in = std::fopen("input.bin", "rb"); if (!in) return 5;')
    lines += [f"    get(in, m_{a.name}.cells.data(), {a.element_count});" for a in interface.arrays]
    for a in interface.scalars:
        port = member(f"s_{a.name}")
        lines.append(f"    {{ {a.type.c_name} v; get(in, &v, 1); top->{port} = v; }}")
    lines += [
        "    std::fclose(in);",
        "    top->clk = 0; top->rst = 1; top->start = 0; top->eval();",
        "    for (int k = 0; k < 2; ++k) { top->clk = 1; top->eval(); top->clk = 0; top->eval(); }",
        "    top->rst = 0;",
        "    for (;; ++cycle) {",
        "        top->start = cycle == 0;",
    ]
    for a in _read(interface):
        lines.append(f"        top->{member(f'm_{a.name}_rdata')} = m_{a.name}.data(cycle);")
    lines.append("        top->eval();")
    lines.append("        if (top->done) break;")
    lines.append("        if (cycle >= limit) return 4;")
    for a in _read(interface):
        enable, address = (f"top->{member(f'm_{a.name}_{part}')}" for part in ("re", "raddr"))
        lines.append(f"        m_{a.name}.read(cycle, {enable}, {address});")
    for a in _written(interface):
        ports = (f"top->{member(f'm_{a.name}_{part}')}" for part in ("we", "waddr", "wdata"))
        lines.append(f"        m_{a.name}.write(cycle, {', '.join(ports)});")
    lines.append("        top->clk = 1; top->eval(); top->clk = 0;")
    lines.append("    }")
    lines.append('    FILE* out = std::fopen("output.bin", "wb"); if (!out) return 5;')
    result = "(int64_t)(int32_t)top->result" if interface.returns is not None else "0"
    lines.append(f"    int64_t head[2] = {{cycle, {result}}}; put(out, head, 2);")
    for a in _written(interface):
        lines.append(f"    m_{a.name}.settle(cycle); put(out, m_{a.name}.cells.data(), {a.element_count});")
    lines.append("    return std::fclose(out) ? 5 : 0;\n}")
    return _PRELUDE + "\n" + "\n".join(lines) + "\n"


def _read(interface: Interface) -> list[Argument]:
    return [a for a in interface.arrays if a.read]


def _written(interface: Interface) -> list[Argument]:
    return [a for a in interface.arrays if a.written]


def encode_input(interface: Interface, data: DataSet) -> bytes:
    """The input file."""
    order = (*interface.arrays, *interface.scalars)
    return b"".join(
        np.ascontiguousarray(data[a.name], dtype=a.type.dtype.newbyteorder("<")).tobytes() for a in order
    )


def decode_output(interface: Interface, content: bytes) -> tuple[int, int | None, DataSet]:
    """Latency in cycles, returned value and written arrays from the output file."""
    cycles, result = struct.unpack_from("<qq", content)
    offset = 16
    outputs: DataSet = {}
    for argument in _written(interface):
        dtype = argument.type.dtype.newbyteorder("<")
        values = np.frombuffer(content, dtype, argument.element_count, offset)
        outputs[argument.name] = values.reshape(argument.shape).astype(argument.type.dtype)
        offset += argument.element_count * dtype.itemsize
    return int(cycles), int(result) if interface.returns is not None else None, outputs
