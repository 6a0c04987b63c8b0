/* Loops over flows, streams and queues of a network: routes, sums, the pass over queues.

   Arrays are in rows. Sums are added in the order of flows, so that every machine gives the same bits.
   Compiled at first use by pipelines/network/compiled.py; without fused multiplications. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAR 65535
#define NO_QUEUE (-1)

static double larger(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

/* Links from every node to each destination, by breadth-first search; hosts do not forward.
   hops: (destinations, nodes). front: (nodes,), scratch. */
void hops_to(int64_t destination_count, const int32_t *destinations, int64_t node_count, const int32_t *targets,
             const int64_t *first, const int32_t *queues, int64_t host_count, int32_t *front, uint16_t *hops) {
    for (int64_t row = 0; row < destination_count; row++) {
        uint16_t *own = hops + row * node_count;
        memset(own, 0xff, node_count * sizeof *own);
        own[destinations[row]] = 0;
        front[0] = destinations[row];
        int64_t head = 0, tail = 1;
        while (head < tail) {
            int32_t node = front[head++];
            if (node < host_count && node != destinations[row]) continue;
            for (int64_t place = first[node]; place < first[node + 1]; place++) {
                int32_t other = targets[queues[place]];
                if (own[other] == FAR) {
                    own[other] = own[node] + 1;
                    front[tail++] = other;
                }
            }
        }
    }
}

/* splitmix64 of a 64-bit number. */
uint64_t mixed(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/* Queues of every flow: at each node one of the queues that lead closer to the destination.
   order: flows by destination, so that the choices of a node are looked up once per destination.
   closer: (queues,), counts, seen: (nodes,), scratch, seen filled with -1. routes: (flows, longest). */
void walk(int64_t flow_count, const int64_t *order, int64_t longest, int32_t *routes, const int32_t *sources,
          const int32_t *destinations, int64_t node_count, const int32_t *targets, const int64_t *first,
          const int32_t *queues, const uint16_t *hops, const int64_t *rows, int64_t host_count, int64_t by_hash,
          int64_t seed, int32_t *closer, int64_t *counts, int64_t *seen) {
    for (int64_t number = 0; number < flow_count; number++) {
        int64_t flow = order[number];
        int32_t node = sources[flow], end = destinations[flow];
        const uint16_t *own = hops + rows[end] * node_count;
        uint64_t digits = (uint64_t)end;
        if (by_hash) digits = mixed(((uint64_t)node * (uint64_t)host_count + (uint64_t)end) ^ ((uint64_t)seed << 40));
        int32_t *route = routes + flow * longest;
        int64_t length = own[node], used = 0;
        for (int64_t hop = 0; hop < length; hop++) {
            if (seen[node] != end) {
                int64_t count = 0;
                for (int64_t place = first[node]; place < first[node + 1]; place++)
                    if (own[targets[queues[place]]] == own[node] - 1) closer[first[node] + count++] = queues[place];
                counts[node] = count;
                seen[node] = end;
            }
            uint64_t count = (uint64_t)counts[node], digit = 0;
            if (count > 1 && by_hash) {
                if (used == 4) {
                    digits = mixed(digits);
                    used = 0;
                }
                digit = (digits >> (16 * used) & 0xFFFF) % count;
                used++;
            } else if (count > 1) {
                digit = digits % count;
                digits /= count;
            }
            route[hop] = closer[first[node] + (int64_t)digit];
            node = targets[route[hop]];
        }
        for (int64_t hop = length; hop < longest; hop++) route[hop] = NO_QUEUE;
    }
}

/* Sums of flows by stream: rate, utilisation, rate x mean square of service, bursts, rate x scv. (streams, 5) */
void stream_sums(int64_t flow_count, int64_t longest, const int32_t *routes, const double *rates,
                 const double *means, const double *seconds, const double *scvs, const double *byte_s,
                 const int64_t *first, const int64_t *position, int64_t entry, double *sums) {
    for (int64_t flow = 0; flow < flow_count; flow++) {
        int64_t before = -1;
        for (int64_t hop = 0; hop < longest; hop++) {
            int64_t queue = routes[flow * longest + hop];
            if (queue < 0) break;
            int64_t stream = before < 0 ? entry + queue : first[before] + position[queue];
            double rate = rates[flow], service = means[flow] * byte_s[queue];
            double *own = sums + 5 * stream;
            own[0] += rate;
            own[1] += rate * service;
            own[2] += rate * seconds[flow] * byte_s[queue] * byte_s[queue];
            own[3] += rate * service * service * (scvs[flow] - 1.0);
            own[4] += rate * scvs[flow];
            before = queue;
        }
    }
}

/* Queues in topological order; returns whether there are cycles, and -1 without memory.
   by_queue: streams in use, by queue. order: (queues,). */
int64_t topological_order(int64_t stream_count, const int64_t *by_queue, const int32_t *before,
                          const int32_t *queue_of, int64_t queue_count, int64_t *order) {
    int64_t *waiting = calloc(queue_count + 1, sizeof *waiting), *nexts = calloc(queue_count + 2, sizeof *nexts);
    int64_t *ends = malloc((queue_count + 1) * sizeof *ends), *after = malloc((stream_count + 1) * sizeof *after);
    char *is_placed = calloc(queue_count + 1, 1);
    int64_t head = 0, tail = 0, is_circular = -1;
    if (!waiting || !nexts || !ends || !after || !is_placed) goto done;
    for (int64_t place = 0; place < stream_count; place++) {
        int32_t source = before[by_queue[place]];
        if (source < 0) continue;
        waiting[queue_of[by_queue[place]]]++;
        nexts[source + 1]++;
    }
    for (int64_t queue = 0; queue < queue_count; queue++) {
        nexts[queue + 1] += nexts[queue];
        ends[queue] = nexts[queue];
    }
    for (int64_t place = 0; place < stream_count; place++) {
        int32_t source = before[by_queue[place]];
        if (source >= 0) after[ends[source]++] = queue_of[by_queue[place]];
    }
    for (int64_t queue = 0; queue < queue_count; queue++)
        if (waiting[queue] == 0) order[tail++] = queue;
    while (head < tail) {
        int64_t queue = order[head++];
        is_placed[queue] = 1;
        for (int64_t place = nexts[queue]; place < nexts[queue + 1]; place++)
            if (--waiting[after[place]] == 0) order[tail++] = after[place];
    }
    is_circular = tail < queue_count;
    for (int64_t queue = 0; queue < queue_count; queue++)
        if (!is_placed[queue]) order[tail++] = queue;
done:
    free(waiting), free(nexts), free(ends), free(after), free(is_placed);
    return is_circular;
}

/* Mean wait in a queue of limited capacity, divided by that in an unbounded queue limited to NEARLY_FULL.
   Equations 5.3 to 5.5, as maximum_entropy.finite_length; in overload only accepted packets count. */
static double finite_factor(double wait, double work, double rate, double busy, double scv, int64_t capacity,
                            double near_one) {
    if (capacity < 0 || wait <= 0.0) return 1.0;
    double limited = (double)capacity;
    if (fabs(1.0 - busy) < near_one) {
        limited = capacity / 2.0;
    } else {
        double length = busy + rate * work / (2.0 * (1.0 - busy)) + busy * (scv - 1.0) / 2.0;
        if (busy < 1.0 || length < 0.0) {
            double x = (length - busy) / length;
            double power = x < 1.0 ? pow(x, (double)(capacity - 1)) : 1.0;
            double one = x < 1.0 ? 1.0 : pow(x, (double)(1 - capacity));
            double whole = (one - power * x) / (1.0 - x) - capacity * busy * power;
            limited = busy / (one - busy * busy * power) * whole;
        }
    }
    double let_in = rate * smaller(1.0, 1.0 / busy);
    return larger(0.0, (limited - smaller(1.0, busy)) / (let_in * wait));
}

/* One pass over queues in order: equations 5.1 to 5.5 over streams, and the waits of trees.
   begins: (queues + 1,) of each queue in by_queue. figures: (7, queues) with the rates in the first row. */
void queue_pass(int64_t queue_count, const int64_t *order, const int64_t *begins, const int64_t *by_queue,
                const int32_t *before, const double *rates, const double *utilisations, const double *service2,
                const double *bursts, int64_t capacity, double nearly_full, double near_one, double *figures,
                double *scvs, double *tree) {
    double *flow_rate = figures, *utilisation = figures + queue_count, *arrival = figures + 2 * queue_count,
           *service_scv = figures + 3 * queue_count, *departure = figures + 4 * queue_count,
           *common = figures + 5 * queue_count, *finite = figures + 6 * queue_count;
    for (int64_t place_of = 0; place_of < queue_count; place_of++) {
        int64_t queue = order[place_of];
        double rate = 0.0, busy = 0.0, square = 0.0, work = 0.0, burst = 0.0, variation = 0.0;
        for (int64_t place = begins[queue]; place < begins[queue + 1]; place++) {
            int64_t stream = by_queue[place];
            int32_t source = before[stream];
            double own = rates[stream], used = utilisations[stream];
            if (source >= 0) {
                double share = own / flow_rate[source];
                scvs[stream] = 1.0 + share * (departure[source] - 1.0);
            }
            rate += own;
            busy += used;
            square += service2[stream];
            work += service2[stream] + used * used / own * (scvs[stream] - 1.0);
            burst += bursts[stream];
            variation += own * scvs[stream];
        }
        if (rate == 0.0) continue;
        double service = busy / rate, full = smaller(busy, nearly_full);
        utilisation[queue] = busy;
        arrival[queue] = variation / rate;
        service_scv[queue] = larger(0.0, square / rate / (service * service) - 1.0);
        departure[queue] = full * full * service_scv[queue] + (1.0 - full * full) * arrival[queue];
        common[queue] = work / (2.0 * (1.0 - full));
        double wait = common[queue] + service * (arrival[queue] - 1.0) / 2.0;
        finite[queue] = finite_factor(wait, work, rate, busy, arrival[queue], capacity, near_one);
        double straight = (square + burst) / (2.0 * (1.0 - full));
        for (int64_t place = begins[queue]; place < begins[queue + 1]; place++) {
            int64_t stream = by_queue[place];
            if (before[stream] < 0) {
                tree[stream] = straight;
                continue;
            }
            double used = smaller(utilisations[stream], nearly_full);
            double alone = (service2[stream] + bursts[stream]) / (2.0 * (1.0 - used));
            tree[stream] = larger(0.0, straight - alone);
        }
    }
}

/* Mean wait, time without waits, sums of variances and deviations, from column begin of (4, all flows); packets
   waiting (queues,). Waits are given by stream where has_streams, else by flow and hop. */
void flow_sums(int64_t flow_count, int64_t longest, const int32_t *routes, const double *rates,
               const double *mean_bytes, const double *by_hop, const double *byte_s, const double *delays_s,
               const double *spread, int64_t has_streams, const double *by_stream, const int64_t *first,
               const int64_t *position, int64_t entry, int64_t all_flows, int64_t begin, double *sums,
               double *waiting) {
    for (int64_t flow = 0; flow < flow_count; flow++) {
        int64_t before = -1;
        double wait = 0.0, base = 0.0, variance = 0.0, deviation = 0.0;
        for (int64_t hop = 0; hop < longest; hop++) {
            int64_t queue = routes[flow * longest + hop];
            if (queue < 0) break;
            int64_t stream = before < 0 ? entry + queue : first[before] + position[queue];
            double here = has_streams ? by_stream[stream] : by_hop[flow * longest + hop];
            wait += here;
            base += mean_bytes[flow] * byte_s[queue] + delays_s[queue];
            variance += here * here * spread[stream];
            deviation += here * sqrt(spread[stream]);
            waiting[queue] += rates[flow] * here;
            before = queue;
        }
        double *column = sums + begin + flow;
        column[0] = wait;
        column[all_flows] = base;
        column[2 * all_flows] = variance;
        column[3 * all_flows] = deviation;
    }
}

/* Mean wait of every flow at every queue of its route, 0 after the last. (flows, longest) */
void hop_waits(int64_t flow_count, int64_t longest, const int32_t *routes, const double *mean_bytes,
               const double *byte_s, const double *shared_s, const double *own, const double *behind,
               const double *larger_s, const double *idle, const double *factor, const double *shift_s,
               const int64_t *first, const int64_t *position, int64_t entry, double *waits) {
    for (int64_t flow = 0; flow < flow_count; flow++) {
        int64_t before = -1;
        for (int64_t hop = 0; hop < longest; hop++) {
            int64_t queue = routes[flow * longest + hop];
            if (queue < 0) break;
            int64_t stream = before < 0 ? entry + queue : first[before] + position[queue];
            double service = mean_bytes[flow] * byte_s[queue];
            double wait = shared_s[stream] + own[stream] * service;
            if (larger_s[stream] > service) {
                double left = idle[stream] * larger(0.0, larger_s[stream] / 2.0 - service);
                wait += behind[stream] * (larger_s[stream] - service + left);
            }
            waits[flow * longest + hop] = larger(0.0, larger(0.0, wait) * factor[stream] + shift_s[stream]);
            before = queue;
        }
    }
}

/* Probabilities of 0 to last packets in batches of geometric size (success) at Poisson times, mean batches
   (Polya and Aeppli). */
static void batch_law(double mean, double success, int64_t last, double *law) {
    double more = 1.0 - success;
    law[0] = exp(-mean);
    for (int64_t count = 1; count <= last; count++) {
        double second = count > 1 ? more * more * (count - 2) * law[count - 2] : 0.0;
        law[count] = larger(0.0, ((mean * success + 2.0 * more * (count - 1)) * law[count - 1] - second) / count);
    }
}

#define STEPS 8

/* Share of packets lost of a queue of limited size that batches of geometric size enter at Poisson times; mean
   wait of the others in times of sending, and mean squared wait where it is asked for. scratch: 5 (capacity + 2).

   The chain is that of the packets that each departure leaves. It goes down by one at most, so the flow over a
   level upwards is that of one state downwards: sums of positive terms. */
static void full_queue(double used, double scv, int64_t capacity, double *scratch, double *lost, double *wait,
                       double *square) {
    int64_t most = capacity + 1, size = capacity + 2; /* with the one that is sent */
    double success = 2.0 / (scv + 1.0), batches = used * success;
    double *law = scratch, *tail = law + size, *left = tail + size, *start = left + size, *here = start + size;
    batch_law(batches, success, most, law);
    double below = 0.0;
    for (int64_t count = 0; count <= most; count++) {
        below += law[count];
        tail[count] = larger(0.0, 1.0 - below);
    }
    left[0] = 1.0;
    double sum = 1.0, from_empty = 0.0, from_empty_below = 0.0;
    for (int64_t level = 0; level < capacity; level++) {
        from_empty = success * law[level] + (1.0 - success) * from_empty; /* a batch, then arrivals while one is sent */
        from_empty_below += from_empty;
        double up = left[0] * larger(0.0, 1.0 - from_empty_below);
        for (int64_t state = 1; state <= level; state++) up += left[state] * tail[level - state + 1];
        left[level + 1] = up / law[0];
        sum += left[level + 1];
        if (sum > 1e100) {
            for (int64_t state = 0; state <= level + 1; state++) left[state] /= sum;
            sum = 1.0;
        }
    }
    for (int64_t state = 0; state <= capacity; state++) left[state] /= sum;
    double cycle = 1.0 + left[0] / batches; /* between departures */
    *lost = larger(0.0, 1.0 - 1.0 / (used * cycle));
    double batch = left[0] * success;
    for (int64_t count = 1; count < most; count++, batch *= 1.0 - success)
        start[count] = batch + (count <= capacity ? left[count] : 0.0);
    start[most] = batch / success;
    double present = 0.0, squares = 0.0, accepted = 0.0;
    for (int64_t step = 0; step < STEPS; step++) { /* while one is sent, by midpoints */
        double sent = (step + 0.5) / STEPS, arrived = 0.0, under = 0.0;
        batch_law(batches * sent, success, most, law);
        for (int64_t room = 0; room < most; room++) { /* arrived: mean of the arrivals that find room */
            present += start[most - room] * (most - room + arrived) / STEPS;
            under += law[room];
            arrived += larger(0.0, 1.0 - under);
        }
        if (square == NULL) continue;
        double places = 0.0; /* batches that put a packet at a place, the first being the one that is sent */
        for (int64_t place = 2; place <= most; place++) {
            here[place - 1] = 0.0;
            for (int64_t count = 1; count < place; count++) here[place - 1] += start[count] * law[place - 1 - count];
            places = (1.0 - success) * places + here[place - 1];
            accepted += places / STEPS;
            squares += places * (place - 1 - sent) * (place - 1 - sent) / STEPS;
        }
    }
    *wait = larger(0.0, present - 1.0);
    if (square == NULL) return;
    double ahead = left[0] / batches; /* of batches that come to an empty queue */
    for (int64_t place = 1; place <= most; place++, ahead *= 1.0 - success) {
        accepted += ahead;
        squares += ahead * (place - 1) * (place - 1);
    }
    *square = squares / accepted;
}

/* `full_queue` of many queues. lost, waits, squares: (queues,) */
void full_queues(int64_t queue_count, const double *utilisations, const double *scvs, int64_t capacity,
                 double *scratch, double *lost, double *waits, double *squares) {
    for (int64_t queue = 0; queue < queue_count; queue++)
        full_queue(utilisations[queue], scvs[queue], capacity, scratch, lost + queue, waits + queue, squares + queue);
}

/* Queues of this capacity that have these waits: of the utilisation offered and the variation of arrivals from
   1 to most; where Poisson arrivals would wait longer, of less utilisation. offered becomes it. (queues,) */
void queues_of_waits(int64_t queue_count, const double *waits, int64_t capacity, double most, int64_t steps,
                     double *scratch, double *offered, double *scvs) {
    for (int64_t queue = 0; queue < queue_count; queue++) {
        double low = 1.0, high = most, lost = 0.0, wait = 0.0;
        full_queue(offered[queue], low, capacity, scratch, &lost, &wait, NULL);
        int is_smooth = waits[queue] < wait;
        if (is_smooth) low = offered[queue] * 1e-6, high = offered[queue];
        for (int64_t step = 0; step < steps; step++) {
            double middle = sqrt(low * high);
            if (is_smooth) full_queue(middle, 1.0, capacity, scratch, &lost, &wait, NULL);
            else full_queue(offered[queue], middle, capacity, scratch, &lost, &wait, NULL);
            if (wait < waits[queue]) low = middle;
            else high = middle;
        }
        scvs[queue] = is_smooth ? 1.0 : sqrt(low * high);
        if (is_smooth) offered[queue] = sqrt(low * high);
    }
}

/* Load of queues without the packets that queues before lost, added to utilisations (queues,); kept becomes the
   share of the packets of every flow that passes all its queues, of those that it had. (flows,) */
void thin_flows(int64_t flow_count, int64_t longest, const int32_t *routes, const double *rates,
                const double *mean_bytes, const double *byte_s, const double *lost, double *kept,
                double *utilisations) {
    for (int64_t flow = 0; flow < flow_count; flow++) {
        double share = kept[flow];
        for (int64_t hop = 0; hop < longest; hop++) {
            int64_t queue = routes[flow * longest + hop];
            if (queue < 0) break;
            utilisations[queue] += rates[flow] * share * mean_bytes[flow] * byte_s[queue];
            share *= 1.0 - lost[queue];
        }
        kept[flow] = share;
    }
}
