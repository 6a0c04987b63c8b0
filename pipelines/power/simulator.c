/* Simulator of a mapped netlist: one program for all designs.
 *
 * Belongs here: traces, the external memories of a design, and the files. Does not: gates and flip-flops
 * (simulation.h), what a cell is (encoding.py), the meaning of ports (stimulus.py), power.
 *
 *   netlist-simulator NETLIST STIMULUS RESULT
 *
 * Zero delay: after a clock edge, gates are computed level by level, each at most once, and only those of which
 * an input has changed. With delays: each change of an input reaches the gate's output after the delay of that
 * input and direction, unless the gate changes its mind before (inertial delay); so glitches are counted. A
 * share of the cycles may have delays: `undone` then tells the glitches of these cycles from other toggles.
 *
 * Files hold little-endian numbers: 32 bits unless said otherwise.
 */
#include "simulation.h"

static void write_bytes(FILE *file, const void *from, size_t size) {
    if (size && fwrite(from, 1, size, file) != size) fail(BAD_FILE, "the result must be writable");
}

static void write_counts(FILE *file) {
    finish_counting();
    int64_t *column = allocate(net_count, sizeof *column);
    for (int n = 0; n < net_count; ++n) column[n] = nets[n].toggles;
    write_bytes(file, column, net_count * sizeof *column);
    for (int n = 0; n < net_count; ++n) column[n] = nets[n].ones;
    write_bytes(file, column, net_count * sizeof *column);
    for (int n = 0; n < net_count; ++n) column[n] = nets[n].undone;
    write_bytes(file, column, net_count * sizeof *column);
    free(column);
    const int64_t timed[2] = {timed_cycles, timed_toggles};
    write_bytes(file, timed, sizeof timed);
}

/* ---- a trace: input values of every cycle, and the values of some nets at its end ---- */

static void run_trace(FILE *in, FILE *out) {
    const int32_t cycles = read_count(in), inputs = read_count(in), watched = read_count(in);
    int32_t *input = read_numbers(in, inputs), *watch = read_numbers(in, watched);
    for (int i = 0; i < inputs; ++i) check_net(input[i], 2);
    for (int i = 0; i < watched; ++i) check_net(watch[i], 0);
    uint8_t *now_in = allocate(inputs, 1), *now_out = allocate(watched, 1);
    for (int c = 0; c < cycles; ++c) {
        read_bytes(in, now_in, inputs);
        if (c == 0) {
            for (int i = 0; i < inputs; ++i) value[input[i]] = now_in[i] & 1;
            initialise();
            start_counting();
        } else {
            ++cycle;
            choose_timing();
            clock_edge(RISING);
            for (int i = 0; i < inputs; ++i) drive_input(input[i], now_in[i] & 1);
            finish_cycle();
        }
        for (int i = 0; i < watched; ++i) now_out[i] = value[watch[i]];
        write_bytes(out, now_out, watched);
    }
    write_counts(out);
}

/* ---- a design with memories ---- */

typedef struct { int32_t width, *nets; } Bus; /* lowest bit first; of width 0 when the design has no such port */

typedef struct { int64_t visible, place; uint64_t word; } Write;

typedef struct {
    uint64_t *cells;
    int32_t addresses, *place; /* element of each address, -1 past the array's end */
    Bus read_enable, read_address, read_data, write_enable, write_address, write_data;
    int64_t reads, writes, *due_cycle;
    uint64_t *ring, held;
    Write *queue;
    int32_t head, tail, room;
} Bank;

static int32_t read_delay, write_delay, noise;

static Bus read_bus(FILE *file, int32_t least) {
    Bus bus = {read_count(file), NULL};
    if (bus.width > 64) fail(BAD_FILE, "a port must have at most 64 bits");
    bus.nets = read_numbers(file, bus.width);
    for (int i = 0; i < bus.width; ++i) check_net(bus.nets[i], least);
    return bus;
}

static uint64_t sample(Bus bus) {
    uint64_t word = 0;
    for (int i = 0; i < bus.width; ++i) word |= (uint64_t)value[bus.nets[i]] << i;
    return word;
}

static void drive_bus(Bus bus, uint64_t word) {
    for (int i = 0; i < bus.width; ++i) drive_input(bus.nets[i], word >> i & 1);
}

static int64_t element(const Bank *bank, uint64_t address) {
    if (address >= (uint64_t)bank->addresses || bank->place[address] < 0) {
        fprintf(stderr, "the netlist touches an element outside an array at cycle %lld\n", (long long)cycle);
        exit(OUT_OF_BOUNDS);
    }
    return bank->place[address];
}

static void make_visible(Bank *bank) {
    while (bank->head < bank->tail && bank->queue[bank->head].visible <= cycle) {
        bank->cells[bank->queue[bank->head].place] = bank->queue[bank->head].word;
        ++bank->head;
    }
    if (bank->head == bank->tail) bank->head = bank->tail = 0;
}

static void store(Bank *bank) {
    if (!sample(bank->write_enable)) return;
    ++bank->writes;
    if (bank->tail == bank->room) {
        bank->room = 2 * bank->room + 16;
        bank->queue = realloc(bank->queue, bank->room * sizeof *bank->queue);
        if (!bank->queue) fail(BAD_FILE, "pending writes must fit in memory");
    }
    const int64_t place = element(bank, sample(bank->write_address));
    bank->queue[bank->tail++] = (Write){cycle + write_delay, place, sample(bank->write_data)};
}

static void load(Bank *bank) {
    if (!sample(bank->read_enable)) return;
    ++bank->reads;
    const int64_t place = element(bank, sample(bank->read_address));
    make_visible(bank);
    const int64_t slot = (cycle + read_delay) % (read_delay + 1);
    bank->ring[slot] = bank->cells[place];
    bank->due_cycle[slot] = cycle + read_delay;
}

/* Read data of this cycle: what was asked for, else the last word (or noise that no design may use). */
static uint64_t read_data(Bank *bank) {
    const int64_t slot = cycle % (read_delay + 1);
    if (bank->due_cycle[slot] == cycle) return bank->held = bank->ring[slot];
    return noise ? 0xA5A5A5A5A5A5A5A5ull ^ (uint64_t)cycle : bank->held;
}

static Bank read_bank(FILE *in, uint64_t **arrays, int32_t array_count, const int32_t *sizes) {
    Bank bank = {0};
    const int32_t array = read_count(in);
    if (array >= array_count) fail(BAD_FILE, "a bank must belong to an array");
    bank.cells = arrays[array];
    bank.addresses = read_count(in);
    bank.place = read_numbers(in, bank.addresses);
    for (int i = 0; i < bank.addresses; ++i)
        if (bank.place[i] >= sizes[array]) fail(BAD_FILE, "an element must lie in its array");
    bank.read_enable = read_bus(in, 0);
    bank.read_address = read_bus(in, 0);
    bank.read_data = read_bus(in, 2);
    bank.write_enable = read_bus(in, 0);
    bank.write_address = read_bus(in, 0);
    bank.write_data = read_bus(in, 0);
    bank.ring = allocate(read_delay + 1, sizeof *bank.ring);
    bank.due_cycle = allocate(read_delay + 1, sizeof *bank.due_cycle);
    for (int i = 0; i <= read_delay; ++i) bank.due_cycle[i] = -1;
    return bank;
}

static void present_data(Bank *banks, int count) {
    for (int b = 0; b < count; ++b) drive_bus(banks[b].read_data, read_data(&banks[b]));
}

static void run_design(FILE *in, FILE *out) {
    const int32_t limit = read_count(in);
    read_delay = read_count(in);
    write_delay = read_count(in);
    noise = read_number(in);
    const Bus reset = read_bus(in, 2), start = read_bus(in, 2), done = read_bus(in, 0), result = read_bus(in, 0);
    const int32_t scalar_bits = read_count(in);
    int32_t *scalar_nets = read_numbers(in, scalar_bits), *scalar_values = read_numbers(in, scalar_bits);
    const int32_t array_count = read_count(in);
    uint64_t **arrays = allocate(array_count, sizeof *arrays);
    int32_t *sizes = allocate(array_count, sizeof *sizes), *written = allocate(array_count, sizeof *written);
    for (int a = 0; a < array_count; ++a) {
        sizes[a] = read_count(in);
        written[a] = read_number(in);
        arrays[a] = allocate(sizes[a], sizeof **arrays);
        read_bytes(in, arrays[a], (size_t)sizes[a] * sizeof **arrays);
    }
    const int32_t bank_count = read_count(in);
    Bank *banks = allocate(bank_count, sizeof *banks);
    for (int b = 0; b < bank_count; ++b) banks[b] = read_bank(in, arrays, array_count, sizes);

    for (int i = 0; i < scalar_bits; ++i) {
        check_net(scalar_nets[i], 2);
        value[scalar_nets[i]] = scalar_values[i] & 1;
    }
    for (int i = 0; i < reset.width; ++i) value[reset.nets[i]] = 1;
    initialise();
    for (int k = 0; k < 2; ++k) {
        clock_edge(RISING);
        finish_cycle();
    }
    drive_bus(reset, 0);
    drive_bus(start, 1);
    present_data(banks, bank_count);
    settle();
    start_counting();
    while (!sample(done)) {
        if (cycle >= limit) exit(CYCLE_LIMIT);
        for (int b = 0; b < bank_count; ++b) load(&banks[b]);
        for (int b = 0; b < bank_count; ++b) store(&banks[b]);
        ++cycle;
        choose_timing();
        clock_edge(RISING);
        drive_bus(start, 0);
        present_data(banks, bank_count);
        finish_cycle();
    }
    const int64_t head[2] = {cycle, (int64_t)sample(result)};
    write_bytes(out, head, sizeof head);
    for (int b = 0; b < bank_count; ++b) {
        make_visible(&banks[b]);
        write_bytes(out, &banks[b].reads, sizeof banks[b].reads);
        write_bytes(out, &banks[b].writes, sizeof banks[b].writes);
    }
    write_counts(out);
    for (int a = 0; a < array_count; ++a)
        if (written[a]) write_bytes(out, arrays[a], (size_t)sizes[a] * sizeof **arrays);
}

int main(int argc, char **argv) {
    if (argc != 4) fail(BAD_FILE, "usage: netlist-simulator NETLIST STIMULUS RESULT");
    read_netlist(argv[1], &delay);
    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
    if (!in || !out) fail(BAD_FILE, "stimulus and result must be files");
    const int32_t kind = read_number(in);
    prepare_timing(read_number(in));
    if (kind == 0) run_trace(in, out);
    else if (kind == 1) run_design(in, out);
    else fail(BAD_FILE, "a stimulus must be a trace (0) or a design (1)");
    if (fclose(out)) fail(BAD_FILE, "the result must be writable");
    return OK;
}
