/* The state of a mapped netlist, and how it changes at a clock edge: the core of simulator.c, its only user.
 *
 * Belongs here: gates as truth tables, flip-flops, the two ways of settling, and the counts. Does not: where
 * values of inputs come from.
 *
 * A gate keeps its input values as a number (`row`), which is the place in its truth table.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, BAD_FILE = 5, OUT_OF_BOUNDS = 3, CYCLE_LIMIT = 4, UNSTABLE = 6 };
enum { RISING = 0, FALLING = 1 };
enum { MAX_INPUTS = 6, MAX_ASYNCHRONOUS_ROUNDS = 1000, MAX_SETTLING_TICKS = 1 << 24 };

static _Noreturn void fail(int status, const char *rule) {
    fprintf(stderr, "%s\n", rule);
    exit(status);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) fail(BAD_FILE, "the netlist must fit in memory");
    return memory;
}

static void read_bytes(FILE *file, void *to, size_t size) {
    if (size && fread(to, 1, size, file) != size) fail(BAD_FILE, "a file must be complete, got a shorter one");
}

static int32_t read_number(FILE *file) {
    int32_t value;
    read_bytes(file, &value, sizeof value);
    return value;
}

static int32_t read_count(FILE *file) {
    int32_t value = read_number(file);
    if (value < 0) fail(BAD_FILE, "a count must be at least 0");
    return value;
}

static int32_t *read_numbers(FILE *file, size_t count) {
    int32_t *values = allocate(count, sizeof *values);
    read_bytes(file, values, count * sizeof *values);
    return values;
}

/* ---- the netlist ---- */

typedef struct { int32_t consumer, mask; } Load; /* of a net: gate and input bit, or flip-flop and role */

enum { ROLE_DATA = 1, ROLE_ASYNCHRONOUS = 2 };

/* What a change touches lies together: a gate or a net is one line of the processor's cache. */
typedef struct {
    uint64_t table; /* of whether the output is to change: of its function, or the inverse while it is 1 */
    int32_t net, level;
    uint8_t row, dirty, changed; /* changed: inputs that changed in this tick */
} Gate;

/* `ones` counts cycles at whose end the net is 1: the cycles of its falls less those of its rises, and at the end
 * the cycles that there are, when it is 1 then. */
typedef struct {
    int64_t toggles, ones, undone;
    int64_t since;             /* timed cycle of the last change */
    int32_t first_load, end_gates, end_load;
    uint8_t begun;             /* value before the cycle of that change */
} Net;

static int net_count, gate_count, flip_flop_count, level_count;
static Gate *gates;              /* (gates,), by rising level */
static int32_t *ff_state, *ff_data, *ff_clear, *ff_preset, *ff_edge; /* (flip-flops,), nets; -1 for none */
static Load *loads;
static uint8_t *value;           /* (nets,) */
static Net *nets;                /* (nets,); `undone`: toggles of timed cycles that took back one of the same cycle */
static int64_t cycle, timed_cycles, timed_toggles;
static int with_delays;

/* flip-flops whose data may differ from their state, and those whose set or clear has changed */
static int32_t *pending, *asynchronous;
static uint8_t *is_pending, *is_asynchronous;
static int pending_count, asynchronous_count;

static void check_net(int32_t net, int32_t least) {
    if (net < least || net >= net_count) fail(BAD_FILE, "a net must be one of the netlist");
}

/* Loads of a net stand together: gates, then flip-flops. Until all are there, `end_load` is the place of the next. */
static void count_loads(const int32_t *of, int count, int each) {
    for (int i = 0; i < count * each; ++i)
        if (of[i] >= 0) ++nets[of[i]].end_load;
}

static void add_load(int32_t net, int32_t consumer, int32_t mask) {
    if (net >= 0) loads[nets[net].end_load++] = (Load){consumer, mask};
}

static int32_t place_loads(void) {
    int32_t total = 0;
    for (int n = 0; n < net_count; ++n) {
        const int32_t count = nets[n].end_load;
        nets[n].first_load = nets[n].end_load = total;
        total += count;
    }
    return total;
}

static void read_netlist(const char *path, int32_t **delays) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(BAD_FILE, "the netlist must be readable");
    net_count = read_count(file);
    gate_count = read_count(file);
    flip_flop_count = read_count(file);
    level_count = read_count(file);
    uint64_t *table = allocate(gate_count, sizeof *table);
    read_bytes(file, table, gate_count * sizeof *table);
    int32_t *level = read_numbers(file, gate_count), *gate_net = read_numbers(file, gate_count);
    int32_t *inputs = read_numbers(file, (size_t)gate_count * MAX_INPUTS);
    ff_state = read_numbers(file, flip_flop_count);
    ff_data = read_numbers(file, flip_flop_count);
    ff_clear = read_numbers(file, flip_flop_count);
    ff_preset = read_numbers(file, flip_flop_count);
    ff_edge = read_numbers(file, flip_flop_count);
    /* ticks: of each gate rising and falling for each input, then of each flip-flop */
    *delays = read_numbers(file, (size_t)gate_count * 2 * MAX_INPUTS + (size_t)flip_flop_count * 2);
    fclose(file);
    gates = allocate(gate_count, sizeof *gates);
    nets = allocate(net_count, sizeof *nets);
    for (int g = 0; g < gate_count; ++g) {
        check_net(gate_net[g], 0);
        for (int k = 0; k < MAX_INPUTS; ++k) check_net(inputs[g * MAX_INPUTS + k], -1);
        if (level[g] < 0 || level[g] >= level_count || (g && level[g] < level[g - 1]))
            fail(BAD_FILE, "gates must be in order of level");
        gates[g] = (Gate){.table = table[g], .net = gate_net[g], .level = level[g]};
    }
    for (int f = 0; f < flip_flop_count; ++f) {
        check_net(ff_state[f], 0);
        check_net(ff_data[f], 0);
        check_net(ff_clear[f], -1);
        check_net(ff_preset[f], -1);
    }
    count_loads(inputs, gate_count, MAX_INPUTS);
    count_loads(ff_data, flip_flop_count, 1);
    count_loads(ff_clear, flip_flop_count, 1);
    count_loads(ff_preset, flip_flop_count, 1);
    loads = allocate(place_loads(), sizeof *loads);
    for (int g = 0; g < gate_count; ++g)
        for (int k = 0; k < MAX_INPUTS; ++k) add_load(inputs[g * MAX_INPUTS + k], g, 1 << k);
    for (int n = 0; n < net_count; ++n) nets[n].end_gates = nets[n].end_load;
    for (int f = 0; f < flip_flop_count; ++f) {
        add_load(ff_data[f], f, ROLE_DATA);
        add_load(ff_clear[f], f, ROLE_ASYNCHRONOUS);
        add_load(ff_preset[f], f, ROLE_ASYNCHRONOUS);
    }
    free(inputs);
    free(table);
    free(level);
    free(gate_net);
    value = allocate(net_count, 1);
    pending = allocate(flip_flop_count, sizeof *pending);
    asynchronous = allocate(flip_flop_count, sizeof *asynchronous);
    is_pending = allocate(flip_flop_count, 1);
    is_asynchronous = allocate(flip_flop_count, 1);
}

static void await_data(int f) {
    if (!is_pending[f]) is_pending[f] = 1, pending[pending_count++] = f;
}

static void await_asynchronous(int f) {
    if (!is_asynchronous[f]) is_asynchronous[f] = 1, asynchronous[asynchronous_count++] = f;
}

/* A net takes its other value. */
static inline Net *flip(int32_t number) {
    Net *net = nets + number;
    value[number] ^= 1;
    net->ones += value[number] ? -cycle : cycle;
    ++net->toggles;
    return net;
}

static void wake_flip_flops(const Net *net) {
    for (int32_t i = net->end_gates; i < net->end_load; ++i)
        if (loads[i].mask == ROLE_DATA) await_data(loads[i].consumer);
        else await_asynchronous(loads[i].consumer);
}

/* ---- zero delay: a queue a level ---- */

static int32_t *queue, *queue_start, *queue_end; /* (gates + levels,), (levels,) twice */

/* A level has room for its gates and one more, which `drive_now` writes before it knows whether to keep it. */
static void prepare_levels(void) {
    queue = allocate((size_t)gate_count + level_count, sizeof *queue);
    queue_start = allocate((size_t)level_count + 1, sizeof *queue_start);
    queue_end = allocate((size_t)level_count + 1, sizeof *queue_end);
    for (int g = gate_count - 1; g >= 0; --g) queue_start[gates[g].level] = g + gates[g].level;
    memcpy(queue_end, queue_start, level_count * sizeof *queue_end);
}

static inline void drive_now(int32_t number) {
    const Net *net = flip(number);
    for (int32_t i = net->first_load; i < net->end_gates; ++i) {
        Gate *gate = gates + loads[i].consumer;
        int32_t *end = queue_end + gate->level;
        gate->row ^= loads[i].mask;
        queue[*end] = loads[i].consumer;
        *end += !gate->dirty;
        gate->dirty = 1;
    }
    wake_flip_flops(net);
}

static void settle_levels(void) {
    for (int l = 0; l < level_count; ++l) {
        for (int32_t i = queue_start[l]; i < queue_end[l]; ++i) {
            Gate *gate = gates + queue[i];
            gate->dirty = 0;
            if (!(gate->table >> gate->row & 1)) continue;
            gate->table = ~gate->table;
            drive_now(gate->net);
        }
        queue_end[l] = queue_start[l];
    }
}

/* ---- with delays: a wheel of ticks; a driver is a gate, a flip-flop, or an input net ---- */

static int32_t *delay;                      /* as in the file */
static int32_t wheel_size, *wheel;          /* first driver of each tick */
static uint64_t *occupied;                  /* a bit a tick of the wheel */
typedef struct {
    int32_t net, due, next, last; /* due: tick of its change; next, last: list within a tick */
    int32_t is_scheduled;
} Driver;

static Driver *drivers;
static int32_t *batch, *reached;
static int scheduled_count;
static int64_t now;

static void prepare_wheel(void) {
    const int driver_count = gate_count + flip_flop_count + net_count;
    int32_t longest = 1;
    for (size_t i = 0; i < (size_t)gate_count * 2 * MAX_INPUTS + (size_t)flip_flop_count * 2; ++i) {
        if (delay[i] < 1 || delay[i] > MAX_SETTLING_TICKS) fail(BAD_FILE, "a delay must be 1 tick to 2^24");
        if (delay[i] > longest) longest = delay[i];
    }
    for (wheel_size = 64; wheel_size <= longest;) wheel_size *= 2;
    wheel = allocate(wheel_size, sizeof *wheel);
    memset(wheel, 0xff, wheel_size * sizeof *wheel);
    occupied = allocate(wheel_size / 64, sizeof *occupied);
    drivers = allocate(driver_count, sizeof *drivers);
    batch = allocate(driver_count, sizeof *batch);
    reached = allocate(gate_count, sizeof *reached);
    for (int g = 0; g < gate_count; ++g) drivers[g].net = gates[g].net;
    for (int f = 0; f < flip_flop_count; ++f) drivers[gate_count + f].net = ff_state[f];
    for (int n = 0; n < net_count; ++n) drivers[gate_count + flip_flop_count + n].net = n;
}

static void schedule(int32_t number, int64_t time) {
    const int32_t slot = time & (wheel_size - 1);
    drivers[number] = (Driver){drivers[number].net, time, wheel[slot], -1, 1};
    if (wheel[slot] >= 0) drivers[wheel[slot]].last = number;
    wheel[slot] = number;
    occupied[slot >> 6] |= 1ull << (slot & 63);
    ++scheduled_count;
}

static void cancel(int32_t number) {
    Driver *driver = drivers + number;
    const int32_t slot = driver->due & (wheel_size - 1);
    if (driver->last >= 0) drivers[driver->last].next = driver->next;
    else wheel[slot] = driver->next;
    if (driver->next >= 0) drivers[driver->next].last = driver->last;
    if (wheel[slot] < 0) occupied[slot >> 6] &= ~(1ull << (slot & 63));
    driver->is_scheduled = 0;
    --scheduled_count;
}

/* The next tick with changes; there is one. No change lies further away than the wheel is long. */
static int64_t next_time(void) {
    int64_t time = now + 1;
    for (;;) {
        const int32_t slot = time & (wheel_size - 1);
        const uint64_t rest = occupied[slot >> 6] >> (slot & 63);
        if (rest) return time + __builtin_ctzll(rest);
        time += 64 - (slot & 63);
    }
}

static int drive_later(int32_t number, int found) {
    const int before = value[number];
    Net *net = flip(number);
    if (net->since < cycle) {
        net->since = cycle;
        net->begun = before;
    }
    ++timed_toggles;
    net->undone += value[number] == net->begun;
    for (int32_t i = net->first_load; i < net->end_gates; ++i) {
        Gate *gate = gates + loads[i].consumer;
        gate->row ^= loads[i].mask;
        if (!gate->changed) reached[found++] = loads[i].consumer;
        gate->changed |= loads[i].mask;
    }
    wake_flip_flops(net);
    return found;
}

/* The shortest delay of the inputs that changed together, for an output that becomes `to`. */
static int32_t gate_delay(int32_t g, int mask, int to) {
    const int32_t *own = delay + ((size_t)g * 2 + (to ? RISING : FALLING)) * MAX_INPUTS;
    int32_t shortest = INT32_MAX;
    for (int k = 0; k < MAX_INPUTS; ++k)
        if (mask >> k & 1 && own[k] < shortest) shortest = own[k];
    return shortest;
}

static void settle_wheel(void) {
    now = 0;
    while (scheduled_count) {
        now = next_time();
        if (now > MAX_SETTLING_TICKS) fail(UNSTABLE, "a netlist must settle after a clock edge");
        const int32_t slot = now & (wheel_size - 1);
        int count = 0, found = 0;
        for (int32_t d = wheel[slot]; d >= 0; d = drivers[d].next) batch[count++] = d;
        for (int i = 0; i < count; ++i) {
            cancel(batch[i]);
            if (batch[i] < gate_count) gates[batch[i]].table = ~gates[batch[i]].table;
            found = drive_later(drivers[batch[i]].net, found);
        }
        for (int i = 0; i < found; ++i) {
            const int32_t g = reached[i];
            const int differs = gates[g].table >> gates[g].row & 1, to = value[gates[g].net] ^ differs;
            const int mask = gates[g].changed;
            gates[g].changed = 0;
            if (drivers[g].is_scheduled && !differs) cancel(g);
            else if (!drivers[g].is_scheduled && differs) schedule(g, now + gate_delay(g, mask, to));
        }
    }
    /* the wheel is empty, so the next wave may start at time 0 again */
    now = 0;
}

/* ---- both ---- */

static void drive_flip_flop(int f) {
    if (with_delays) {
        const int32_t *own = delay + (size_t)gate_count * 2 * MAX_INPUTS + (size_t)f * 2;
        schedule(gate_count + f, own[value[ff_state[f]] ? FALLING : RISING]);
    } else {
        drive_now(ff_state[f]);
    }
}

static void drive_input(int32_t net, int to) {
    if (value[net] == to) return;
    if (with_delays) {
        const int32_t driver = gate_count + flip_flop_count + net;
        if (!drivers[driver].is_scheduled) schedule(driver, 1);
    } else {
        drive_now(net);
    }
}

/* What set and clear force a flip-flop to, or -1; clear wins. */
static int forced(int f) {
    if (ff_clear[f] >= 0 && value[ff_clear[f]]) return 0;
    if (ff_preset[f] >= 0 && value[ff_preset[f]]) return 1;
    return -1;
}

static void settle(void) {
    for (int round = 0;; ++round) {
        if (with_delays) settle_wheel();
        else settle_levels();
        if (!asynchronous_count) return;
        if (round > MAX_ASYNCHRONOUS_ROUNDS) fail(UNSTABLE, "sets and clears must settle after a clock edge");
        const int count = asynchronous_count;
        asynchronous_count = 0;
        for (int i = 0; i < count; ++i) {
            const int f = asynchronous[i], to = forced(f);
            is_asynchronous[f] = 0;
            await_data(f);
            if (to >= 0 && value[ff_state[f]] != to) drive_flip_flop(f);
        }
    }
}

/* A clock edge: flip-flops of that edge take their data, all at once. */
static void clock_edge(int edge) {
    int kept = 0, moving = 0;
    static int32_t *moved;
    if (!moved) moved = allocate(flip_flop_count, sizeof *moved);
    for (int i = 0; i < pending_count; ++i) {
        const int f = pending[i];
        if (ff_edge[f] != edge || forced(f) >= 0) {
            pending[kept++] = f;
            continue;
        }
        is_pending[f] = 0;
        if (value[ff_data[f]] != value[ff_state[f]]) moved[moving++] = f;
    }
    pending_count = kept;
    for (int i = 0; i < moving; ++i) drive_flip_flop(moved[i]);
}

static int has_falling;

/* ---- which cycles have delays: all, none, or a share drawn by the number of the cycle ---- */

enum { WHOLE_SHARE = 1 << 16 };
static int32_t timed_share; /* of WHOLE_SHARE */

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

/* At the start of a cycle all is settled, so that each cycle may be settled in either way. */
static void choose_timing(void) {
    with_delays = timed_share && (has_falling || (int32_t)(mixed(cycle) & (WHOLE_SHARE - 1)) < timed_share);
    timed_cycles += with_delays;
}

static void prepare_timing(int32_t share) {
    if (share < 0 || share > WHOLE_SHARE) fail(BAD_FILE, "a share must be 0 to 65536");
    timed_share = share;
    with_delays = share > 0;
    prepare_levels();
    if (with_delays) prepare_wheel();
}

static void finish_cycle(void) {
    settle();
    if (!has_falling) return;
    clock_edge(FALLING);
    settle();
}

static void turn_rows(const Net *net) {
    for (int32_t i = net->first_load; i < net->end_gates; ++i) gates[loads[i].consumer].row ^= loads[i].mask;
}

/* Values of all nets for random states and the inputs given. */
static void initialise(void) {
    uint64_t state = 0x9E3779B97F4A7C15ull;
    value[1] = 1;
    for (int f = 0; f < flip_flop_count; ++f) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const int to = forced(f);
        value[ff_state[f]] = to >= 0 ? to : (int)(state >> 40 & 1);
        if (ff_edge[f] == FALLING) has_falling = 1;
        await_data(f);
        await_asynchronous(f);
    }
    /* rows follow the values of the loads; gates are in order of level */
    for (int n = 0; n < net_count; ++n)
        if (value[n]) turn_rows(nets + n);
    for (int g = 0; g < gate_count; ++g) {
        const int to = gates[g].table >> gates[g].row & 1;
        if (to != value[gates[g].net]) {
            value[gates[g].net] = to;
            turn_rows(nets + gates[g].net);
        }
        if (to) gates[g].table = ~gates[g].table;
    }
    settle();
}

/* Cycles 1 .. last are counted. */
static void start_counting(void) {
    for (int n = 0; n < net_count; ++n) {
        nets[n].toggles = nets[n].undone = nets[n].since = 0;
        nets[n].ones = -value[n];
    }
    cycle = timed_toggles = 0;
}

static void finish_counting(void) {
    for (int n = 0; n < net_count; ++n)
        if (value[n]) nets[n].ones += cycle + 1;
}
