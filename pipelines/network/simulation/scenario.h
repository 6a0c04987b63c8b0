// The files that both simulators read and write; scenario.py writes and reads the other side.
//
// Belongs here: their layout. Does not: simulation. All numbers are little-endian.
//
// Scenario: magic, 12 int64 of Header, the number of steps behind the second magic, then arrays in the order of Scenario.
// Result: magic, packet and hop and queue counts, then arrays in the order of Result.
#ifndef NETWORK_SCENARIO_H
#define NETWORK_SCENARIO_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace network {

struct Header {
    int64_t nodes, hosts, queues, flows, packets, route_length, ack_route_length;
    int64_t capacity;       // packets that may wait in a queue beside the one that is sent
    int64_t header_bytes;   // on every packet beside its payload
    int64_t ack_bytes;      // payload of acknowledgements; -1: there are none
    int64_t warm_up_ns;     // packets sent before are not counted
    int64_t is_tcp;
};

struct Scenario : Header {
    int64_t steps = 0;  // of collectives; 0: every packet is sent at its time
    std::vector<int32_t> queue_sources, queue_targets;
    std::vector<int64_t> rates_bps, delays_ns;
    std::vector<int32_t> flow_sources, flow_destinations;
    std::vector<int32_t> routes, ack_routes;  // (flows, length), -1 after the last queue
    std::vector<int64_t> times_ns;
    std::vector<int32_t> packet_flows, payload_bytes;
    std::vector<int32_t> packet_steps;  // (packets,), none without steps
    std::vector<int32_t> after_steps;   // (steps,) the one before of the same job, -1: none
};

struct HopSums {
    std::vector<int64_t> packets, drops;
    std::vector<double> wait_ns, wait_ns2;
    explicit HopSums(size_t n = 0) : packets(n), drops(n), wait_ns(n), wait_ns2(n) {}
};

struct QueueSums {
    std::vector<int64_t> packets, drops, busy_ns;
    std::vector<double> wait_ns, gap_ns, gap_ns2;  // gaps between arrivals
    explicit QueueSums(size_t n = 0) : packets(n), drops(n), busy_ns(n), wait_ns(n), gap_ns(n), gap_ns2(n) {}
};

struct Result {
    std::vector<int64_t> delays_ns;  // from sending to the last bit's arrival; -1: dropped
    std::vector<int64_t> rtts_ns;    // until the acknowledgement is back; -1: none came
    HopSums hops, ack_hops;
    QueueSums queues;
    int64_t events = 0;
};

[[noreturn]] inline void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(2);
}

template <typename T>
void read_array(std::FILE* file, std::vector<T>& into, int64_t count) {
    into.resize(static_cast<size_t>(count));
    if (count && std::fread(into.data(), sizeof(T), into.size(), file) != into.size()) fail("the scenario ends early");
}

template <typename T>
void write_array(std::FILE* file, const std::vector<T>& values) {
    if (!values.empty() && std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size())
        fail("the result cannot be written");
}

inline Scenario read_scenario(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) fail("the scenario cannot be opened");
    char magic[8];
    Scenario s;
    if (std::fread(magic, 1, 8, file) != 8) fail("not a scenario");
    bool has_steps = std::memcmp(magic, "SFNETIN2", 8) == 0;
    if (!has_steps && std::memcmp(magic, "SFNETIN1", 8) != 0) fail("not a scenario");
    if (std::fread(static_cast<Header*>(&s), sizeof(Header), 1, file) != 1) fail("the scenario ends early");
    if (has_steps && std::fread(&s.steps, sizeof s.steps, 1, file) != 1) fail("the scenario ends early");
    read_array(file, s.queue_sources, s.queues);
    read_array(file, s.queue_targets, s.queues);
    read_array(file, s.rates_bps, s.queues);
    read_array(file, s.delays_ns, s.queues);
    read_array(file, s.flow_sources, s.flows);
    read_array(file, s.flow_destinations, s.flows);
    read_array(file, s.routes, s.flows * s.route_length);
    read_array(file, s.ack_routes, s.flows * s.ack_route_length);
    read_array(file, s.times_ns, s.packets);
    read_array(file, s.packet_flows, s.packets);
    read_array(file, s.payload_bytes, s.packets);
    read_array(file, s.packet_steps, s.steps ? s.packets : 0);
    read_array(file, s.after_steps, s.steps);
    std::fclose(file);
    return s;
}

// Steps of collectives: the packets of one are sent at the moment when all of the one before have arrived.
class Steps {
  public:
    std::vector<int64_t> sent_ns;  // of every packet
    explicit Steps(const Scenario& s)
        : sent_ns(s.times_ns), s_(s), left_(s.steps), next_(s.steps, -1), packets_(s.steps) {
        for (int64_t step = 0; step < s.steps; step++)
            if (s.after_steps[step] >= 0) next_[s.after_steps[step]] = static_cast<int32_t>(step);
        for (size_t packet = 0; packet < s.packet_steps.size(); packet++) {
            left_[s.packet_steps[packet]]++;
            packets_[s.packet_steps[packet]].push_back(static_cast<int32_t>(packet));
        }
    }
    bool has_own_time(int64_t packet) const { return s_.steps == 0 || s_.after_steps[s_.packet_steps[packet]] < 0; }
    // Packets that are to be sent because another one has arrived.
    const std::vector<int32_t>& released_by(int64_t packet, int64_t now) {
        static const std::vector<int32_t> none;
        if (s_.steps == 0) return none;
        int32_t step = s_.packet_steps[packet];
        if (--left_[step] > 0 || next_[step] < 0) return none;
        const std::vector<int32_t>& released = packets_[next_[step]];
        for (int32_t next : released) sent_ns[next] = now;
        return released;
    }

  private:
    const Scenario& s_;
    std::vector<int64_t> left_;
    std::vector<int32_t> next_;
    std::vector<std::vector<int32_t>> packets_;
};

inline void write_hops(std::FILE* file, const HopSums& sums) {
    write_array(file, sums.packets);
    write_array(file, sums.drops);
    write_array(file, sums.wait_ns);
    write_array(file, sums.wait_ns2);
}

inline void write_result(const char* path, const Result& result) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file) fail("the result cannot be opened");
    std::vector<int64_t> counts = {
        static_cast<int64_t>(result.delays_ns.size()), static_cast<int64_t>(result.hops.packets.size()),
        static_cast<int64_t>(result.ack_hops.packets.size()), static_cast<int64_t>(result.queues.packets.size()),
        result.events};
    if (std::fwrite("SFNETRS1", 1, 8, file) != 8) fail("the result cannot be written");
    write_array(file, counts);
    write_array(file, result.delays_ns);
    write_array(file, result.rtts_ns);
    write_hops(file, result.hops);
    write_hops(file, result.ack_hops);
    write_array(file, result.queues.packets);
    write_array(file, result.queues.drops);
    write_array(file, result.queues.busy_ns);
    write_array(file, result.queues.wait_ns);
    write_array(file, result.queues.gap_ns);
    write_array(file, result.queues.gap_ns2);
    if (std::fclose(file) != 0) fail("the result cannot be written");
}

// Sums over the packets of one queue, in the order in which they come.
class Meter {
  public:
    Meter(const Scenario& s, Result& r) : s_(s), r_(r), last_(s.queues, -1) {
        r.hops = HopSums(s.routes.size());
        r.ack_hops = HopSums(s.ack_routes.size());
        r.queues = QueueSums(s.queues);
        r.delays_ns.assign(s.packets, -1);
        r.rtts_ns.assign(s.packets, -1);
    }
    bool counts(int64_t packet) const { return s_.times_ns[packet] >= s_.warm_up_ns; }
    void arrived(int64_t now, int32_t queue) {
        if (now < s_.warm_up_ns) return;
        if (last_[queue] >= 0) {
            double gap = static_cast<double>(now - last_[queue]);
            r_.queues.gap_ns[queue] += gap;
            r_.queues.gap_ns2[queue] += gap * gap;
        }
        last_[queue] = now;
        r_.queues.packets[queue]++;
    }
    void dropped(int32_t queue, int64_t place, bool is_ack) {
        r_.queues.drops[queue]++;
        (is_ack ? r_.ack_hops : r_.hops).drops[place]++;
    }
    void sent(int32_t queue, int64_t place, bool is_ack, int64_t wait, int64_t busy) {
        HopSums& hops = is_ack ? r_.ack_hops : r_.hops;
        double w = static_cast<double>(wait);
        hops.packets[place]++;
        hops.wait_ns[place] += w;
        hops.wait_ns2[place] += w * w;
        r_.queues.busy_ns[queue] += busy;
        r_.queues.wait_ns[queue] += w;
    }

  private:
    const Scenario& s_;
    Result& r_;
    std::vector<int64_t> last_;
};

}  // namespace network

#endif
