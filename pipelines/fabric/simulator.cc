// Cycle-exact simulation of samples that flow through placed operations over time-shared links, event-driven.
//
// Every cycle has three phases: what ends now is counted, idle operations start a sample, idle links start a packet.
// The rules are those of `pipelines.fabric.simulation.Problem`.
//
// Usage: simulator PROBLEMS RESULTS   (streams of 64-bit integers)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <vector>

namespace {

using Ints = std::vector<int64_t>;

struct Event {
    int64_t time;
    int32_t kind, who;  // who: an operation, or a hop of a route
    bool operator>(const Event& other) const { return time > other.time; }
};

enum Kind { kIdle, kOutput, kSent, kArrived };

struct Hop {
    int32_t link, edge;
    int64_t duration;
    int64_t capacity;             // packets that wait before the link, those that are on their way included
    int64_t taken = 0, ready = 0;  // ... taken of it; ... that have arrived
    std::vector<int64_t> since;    // arrival times of ready packets, a ring
    int64_t first = 0;             // ... place of the earliest

    int64_t earliest() const { return since[first]; }
    void push(int64_t time) {
        int64_t at = first + ready++;
        since[at < capacity ? at : at - capacity] = time;
    }
    void pop() { ready--, first = first + 1 == capacity ? 0 : first + 1; }
};

class Simulation {
  public:
    bool read(const Ints& in, size_t& at);
    void run(Ints& out);

  private:
    bool is_steady();
    void start_operation(int32_t v);
    void start_packet(int32_t link);
    int64_t free_after(int32_t hop) const;
    void touch_operation(int32_t v) { if (!touched_v_[v]) { touched_v_[v] = true; dirty_v_.push_back(v); } }
    void touch_link(int32_t l) { if (!touched_l_[l]) { touched_l_[l] = true; dirty_l_.push_back(l); } }

    int64_t samples_, packets_, window_, now_ = 0;
    int64_t complete_ = 0;                        // samples that have left every last operation
    std::vector<std::vector<int64_t>> snapshots_;  // started_ when a multiple of half a window was complete
    std::vector<int64_t> service_, delay_, latency_;
    std::vector<int32_t> source_, target_, first_;  // first_[e]: first hop of edge e
    std::vector<Hop> hops_;
    std::vector<std::vector<int32_t>> inputs_, outputs_, hops_of_;
    std::vector<int64_t> started_, ended_, input_taken_, input_ready_, input_capacity_, busy_;
    std::vector<char> is_busy_, is_sending_, touched_v_, touched_l_;
    std::vector<int32_t> dirty_v_, dirty_l_;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
};

bool Simulation::read(const Ints& in, size_t& at) {
    samples_ = in[at++], packets_ = in[at++], window_ = in[at++];
    int64_t hop_buffer = in[at++];
    size_t n = in[at++], m = in[at++], links = in[at++];
    auto take = [&](size_t count) { Ints v(in.begin() + at, in.begin() + at + count); at += count; return v; };
    service_ = take(n), delay_ = take(n);
    Ints source = take(m), target = take(m), lengths = take(m), buffers = take(m), input_buffers = take(m);
    source_.assign(source.begin(), source.end()), target_.assign(target.begin(), target.end());
    inputs_.resize(n), outputs_.resize(n), hops_of_.resize(links);
    for (size_t e = 0; e < m; e++) {
        outputs_[source[e]].push_back(e), inputs_[target[e]].push_back(e);
        first_.push_back(hops_.size());
        for (int64_t k = 0; k < lengths[e]; k++) {
            Hop hop;
            hop.link = in[at++], hop.duration = in[at++], hop.edge = e;
            hop.capacity = k == 0 ? buffers[e] * packets_ : hop_buffer;
            hop.since.resize(hop.capacity);
            hops_of_[hop.link].push_back(hops_.size());
            hops_.push_back(hop);
        }
    }
    first_.push_back(hops_.size());
    latency_ = take(links);
    started_.assign(n, 0), ended_.assign(n, 0), is_busy_.assign(n, 0), touched_v_.assign(n, 0);
    input_taken_.assign(m, 0), input_ready_.assign(m, 0), input_capacity_.resize(m);
    for (size_t e = 0; e < m; e++) input_capacity_[e] = input_buffers[e] * packets_;
    is_sending_.assign(links, 0), busy_.assign(links, 0), touched_l_.assign(links, 0);
    return true;
}

// Room for packets behind a hop: in the next hop's buffer, or in the input buffer of the operation.
int64_t Simulation::free_after(int32_t h) const {
    int32_t e = hops_[h].edge;
    if (h + 1 < first_[e + 1]) return hops_[h + 1].capacity - hops_[h + 1].taken;
    return input_capacity_[e] - input_taken_[e];
}

void Simulation::start_operation(int32_t v) {
    if (is_busy_[v] || started_[v] == samples_) return;
    for (int32_t e : inputs_[v])
        if (input_ready_[e] < packets_) return;
    for (int32_t e : outputs_[v])
        if (hops_[first_[e]].capacity - hops_[first_[e]].taken < packets_) return;
    for (int32_t e : inputs_[v]) {
        input_ready_[e] -= packets_, input_taken_[e] -= packets_;
        touch_link(hops_[first_[e + 1] - 1].link);
    }
    for (int32_t e : outputs_[v]) hops_[first_[e]].taken += packets_;
    is_busy_[v] = 1, started_[v]++;
    events_.push({now_ + service_[v], kIdle, v});
    events_.push({now_ + service_[v] + delay_[v], kOutput, v});
}

// Whether every operation started as many samples as the others, give or take one, in the last window.
bool Simulation::is_steady() {
    snapshots_.push_back(started_);
    if (snapshots_.size() < 3) return false;
    const auto& before = snapshots_[snapshots_.size() - 3];
    int64_t least = INT64_MAX, most = 0;
    for (size_t v = 0; v < started_.size(); v++) {
        least = std::min(least, started_[v] - before[v]), most = std::max(most, started_[v] - before[v]);
    }
    return most - least <= 1;
}

// The packet that has waited longest is sent first; of those of one cycle, that of the lowest edge.
void Simulation::start_packet(int32_t link) {
    if (is_sending_[link]) return;
    int32_t best = -1;
    for (int32_t h : hops_of_[link]) {
        const Hop& hop = hops_[h];
        if (hop.ready == 0 || free_after(h) <= 0) continue;
        if (best < 0 || hop.earliest() < hops_[best].earliest()) best = h;
    }
    if (best < 0) return;
    Hop& hop = hops_[best];
    hop.pop();
    if (best + 1 < first_[hop.edge + 1]) hops_[best + 1].taken++;
    else input_taken_[hop.edge]++;
    is_sending_[link] = 1, busy_[link] += hop.duration;
    events_.push({now_ + hop.duration, kSent, best});
    events_.push({now_ + hop.duration + latency_[link], kArrived, best});
}

void Simulation::run(Ints& out) {
    size_t n = service_.size();
    Ints done(samples_, 0), sinks_left(samples_, 0);
    int64_t sinks = std::count_if(outputs_.begin(), outputs_.end(), [](auto& o) { return o.empty(); });
    int64_t left = sinks * samples_;
    bool is_steady_now = false;
    sinks_left.assign(samples_, sinks);
    for (size_t v = 0; v < n; v++) touch_operation(v);
    for (;;) {
        for (size_t i = 0; i < dirty_v_.size(); i++) touched_v_[dirty_v_[i]] = false, start_operation(dirty_v_[i]);
        dirty_v_.clear();
        for (size_t i = 0; i < dirty_l_.size(); i++) touched_l_[dirty_l_[i]] = false, start_packet(dirty_l_[i]);
        dirty_l_.clear();
        if (events_.empty() || is_steady_now) break;
        now_ = events_.top().time;
        while (!events_.empty() && events_.top().time == now_) {
            Event event = events_.top();
            events_.pop();
            if (event.kind == kIdle) {
                is_busy_[event.who] = 0, touch_operation(event.who);
            } else if (event.kind == kOutput) {
                for (int32_t e : outputs_[event.who]) {
                    Hop& hop = hops_[first_[e]];
                    for (int64_t p = 0; p < packets_; p++) hop.push(now_);
                    touch_link(hop.link);
                }
                int64_t sample = ended_[event.who]++;
                if (!outputs_[event.who].empty()) continue;
                done[sample] = std::max(done[sample], now_), left--, sinks_left[sample]--;
                while (complete_ < samples_ && sinks_left[complete_] == 0) {
                    complete_++;
                    if (window_ && complete_ % (window_ / 2) == 0 && is_steady()) is_steady_now = true;
                }
            } else if (event.kind == kSent) {
                Hop& hop = hops_[event.who];
                hop.taken--, is_sending_[hop.link] = 0;
                touch_link(hop.link);
                if (event.who == first_[hop.edge]) touch_operation(source_[hop.edge]);
                else touch_link(hops_[event.who - 1].link);
            } else {
                int32_t e = hops_[event.who].edge;
                if (event.who + 1 < first_[e + 1]) {
                    Hop& next = hops_[event.who + 1];
                    next.push(now_), touch_link(next.link);
                } else {
                    input_ready_[e]++, touch_operation(target_[e]);
                }
            }
        }
    }
    out.push_back(left > 0 && !is_steady_now), out.push_back(now_), out.push_back(complete_);
    out.insert(out.end(), done.begin(), done.end());
    out.insert(out.end(), busy_.begin(), busy_.end());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    FILE* file = fopen(argv[1], "rb");
    if (!file) return 3;
    Ints in, out;
    int64_t buffer[4096];
    for (size_t got; (got = fread(buffer, 8, 4096, file)) > 0;) in.insert(in.end(), buffer, buffer + got);
    fclose(file);
    for (size_t at = 1, count = in.at(0); count > 0; count--) {
        Simulation simulation;
        simulation.read(in, at);
        simulation.run(out);
    }
    file = fopen(argv[2], "wb");
    if (!file) return 4;
    bool whole = fwrite(out.data(), 8, out.size(), file) == out.size();
    return fclose(file) == 0 && whole ? 0 : 5;
}
