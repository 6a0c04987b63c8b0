// An event simulator of UDP over drop-tail queues, whose packets have the very delays that they have in ns-3.
//
// Belongs here: queues, links and acknowledgements in ns-3's order of events. Does not: TCP.
//
// Order: events of one time run in the order in which they were scheduled, as in ns-3. A node that begins to send
// schedules the end of sending, then the arrival at the other end; a host's next packet is scheduled after the one
// before was handed down. Where a link has no delay, end and arrival have one time and following numbers, so one event
// does both.
//
// Usage: simulator SCENARIO RESULT
#include <algorithm>

#include "scenario.h"

namespace {

using namespace network;

struct Event {
    int64_t time;
    uint64_t order;
    int32_t what;    // a queue whose packet is sent, a host that sends next, or a packet that arrives
    int32_t detail;  // kind of event, or hop << 3 | ack << 2 | kind
    bool before(const Event& other) const { return time != other.time ? time < other.time : order < other.order; }
};

enum Kind { kSent = 0, kSentAndArrived = 1, kHost = 2, kArrived = 3 };

// A heap with four children a node: half as deep as one with two, and children share a cache line.
class Events {
  public:
    bool empty() const { return heap_.empty(); }
    void push(Event e) {
        size_t at = heap_.size();
        heap_.push_back(e);
        while (at > 0) {
            size_t parent = (at - 1) / 4;
            if (!e.before(heap_[parent])) break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = e;
    }
    Event pop() {
        Event first = heap_.front(), last = heap_.back();
        heap_.pop_back();
        size_t count = heap_.size(), at = 0;
        if (count == 0) return first;
        for (;;) {
            size_t child = 4 * at + 1;
            if (child >= count) break;
            size_t end = std::min(child + 4, count), least = child;
            for (size_t i = child + 1; i < end; i++)
                if (heap_[i].before(heap_[least])) least = i;
            if (!heap_[least].before(last)) break;
            heap_[at] = heap_[least];
            at = least;
        }
        heap_[at] = last;
        return first;
    }

  private:
    std::vector<Event> heap_;
};

struct Waiting {
    int64_t since;
    int32_t packet, hop;
    bool is_ack;
};

struct Queue {
    std::vector<Waiting> ring;  // a power of two, doubled when it is full
    size_t first = 0, count = 0;
    bool is_busy = false;
    Waiting sending{};
    void push(const Waiting& own) {
        if (count == ring.size()) {
            std::vector<Waiting> larger(std::max<size_t>(8, 2 * count));
            for (size_t i = 0; i < count; i++) larger[i] = ring[(first + i) & (count - 1)];
            ring.swap(larger);
            first = 0;
        }
        ring[(first + count++) & (ring.size() - 1)] = own;
    }
    Waiting pop() {
        Waiting next = ring[first];
        first = (first + 1) & (ring.size() - 1);
        count--;
        return next;
    }
};

class Simulation {
  public:
    explicit Simulation(const Scenario& scenario)
        : s(scenario), meter(scenario, result), steps(scenario), queues(s.queues) {
        of_host.resize(s.hosts);
        next_of_host.assign(s.hosts, 0);
        for (int64_t p = 0; p < s.packets; p++)
            if (steps.has_own_time(p)) of_host[s.flow_sources[s.packet_flows[p]]].push_back(static_cast<int32_t>(p));
    }

    Result& run() {
        for (int32_t host = 0; host < s.hosts; host++)
            if (!of_host[host].empty()) schedule(s.times_ns[of_host[host][0]], host, kHost);
        while (!events.empty()) {
            Event e = events.pop();
            result.events++;
            switch (e.detail & 3) {
                case kHost: send_next(e.time, e.what); break;
                case kSent: finish(e.time, e.what); break;
                case kSentAndArrived: {
                    Waiting packet = queues[e.what].sending;
                    finish(e.time, e.what);
                    arrive(e.time, packet.packet, packet.hop + 1, packet.is_ack);
                    break;
                }
                default: arrive(e.time, e.what, e.detail >> 3, e.detail >> 2 & 1);
            }
        }
        return result;
    }

  private:
    const Scenario& s;
    Result result;
    Meter meter;
    Steps steps;
    std::vector<Queue> queues;
    std::vector<std::vector<int32_t>> of_host;
    std::vector<size_t> next_of_host;
    Events events;
    uint64_t scheduled = 0;

    void schedule(int64_t time, int32_t what, int32_t detail) { events.push({time, scheduled++, what, detail}); }

    void send_next(int64_t now, int32_t host) {
        const std::vector<int32_t>& own = of_host[host];
        arrive(now, own[next_of_host[host]++], 0, false);
        if (next_of_host[host] < own.size()) schedule(s.times_ns[own[next_of_host[host]]], host, kHost);
    }

    int64_t place(int32_t packet, int32_t hop, bool is_ack) const {
        return s.packet_flows[packet] * (is_ack ? s.ack_route_length : s.route_length) + hop;
    }

    void arrive(int64_t now, int32_t packet, int32_t hop, bool is_ack) {
        int64_t length = is_ack ? s.ack_route_length : s.route_length;
        int32_t queue = hop < length ? (is_ack ? s.ack_routes : s.routes)[place(packet, hop, is_ack)] : -1;
        if (queue < 0) return end(now, packet, is_ack);
        meter.arrived(now, queue);
        Queue& q = queues[queue];
        Waiting own{now, packet, hop, is_ack};
        if (!q.is_busy) {
            q.is_busy = true;
            begin(now, queue, own);
        } else if (q.count == static_cast<size_t>(s.capacity)) {
            if (meter.counts(packet)) meter.dropped(queue, place(packet, hop, is_ack), is_ack);
        } else {
            q.push(own);
        }
    }

    void end(int64_t now, int32_t packet, bool is_ack) {
        (is_ack ? result.rtts_ns : result.delays_ns)[packet] = now - steps.sent_ns[packet];
        if (is_ack) return;
        if (s.ack_bytes >= 0) arrive(now, packet, 0, true);
        for (int32_t next : steps.released_by(packet, now)) arrive(now, next, 0, false);
    }

    void begin(int64_t now, int32_t queue, Waiting own) {
        int64_t bytes = s.header_bytes + (own.is_ack ? s.ack_bytes : s.payload_bytes[own.packet]);
        int64_t rate = s.rates_bps[queue];
        // As ns-3 rounds: seconds are cut to 64 binary digits, then nanoseconds go to the nearest whole number.
        unsigned __int128 seconds = (static_cast<unsigned __int128>(bytes * 8) << 64) / static_cast<uint64_t>(rate);
        int64_t busy = static_cast<int64_t>((seconds * 1000000000 + (static_cast<unsigned __int128>(1) << 63)) >> 64);
        if (meter.counts(own.packet))
            meter.sent(queue, place(own.packet, own.hop, own.is_ack), own.is_ack, now - own.since, busy);
        queues[queue].sending = own;
        if (s.delays_ns[queue] == 0) return schedule(now + busy, queue, kSentAndArrived);
        schedule(now + busy, queue, kSent);
        schedule(now + busy + s.delays_ns[queue], own.packet, (own.hop + 1) << 3 | own.is_ack << 2 | kArrived);
    }

    void finish(int64_t now, int32_t queue) {
        Queue& q = queues[queue];
        if (q.count == 0) {
            q.is_busy = false;
            return;
        }
        begin(now, queue, q.pop());
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) fail("usage: simulator SCENARIO RESULT");
    Scenario scenario = read_scenario(argv[1]);
    if (scenario.is_tcp) fail("this simulator has no TCP");
    Simulation simulation(scenario);
    write_result(argv[2], simulation.run());
    return 0;
}
