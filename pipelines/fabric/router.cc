// Routes of placed graphs by negotiated congestion (PathFinder), from scratch or from move to move.
//
// The rules are those of `pipelines.fabric.routing`. Compiled as a shared library.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

namespace {

constexpr int kFeatures = 5;  // see ROUTE_FEATURES in routing.py

struct Way { int link, to; };
using Route = std::vector<int>;

// What does not change from placement to placement.
struct Problem {
    int columns, tiles, links, nodes, edges, rounds;
    double limit, growth, history, spread, port_share;
    std::vector<std::vector<Way>> ways;  // by switch
    std::vector<double> load;            // by edge, on a link
    std::vector<int> source, target;     // operations, by edge
    std::vector<int> order;              // edges, the highest load first
    std::vector<std::vector<int>> touching;  // edges, by operation
};

// Routes of one placement and the loads that follow. Ports have loads too, but are not chosen.
struct State {
    std::vector<int> units;
    std::vector<Route> routes;
    std::vector<double> use, past;
    std::vector<int> sharers;

    void reset(const Problem& p) {
        units.assign(p.nodes, 0), routes.assign(p.edges, {});
        use.assign(p.links, 0), past.assign(p.links, 0), sharers.assign(p.links, 0);
    }

    void add(const Problem& p, int e, int sign) {
        for (int link : routes[e]) use[link] += sign * p.load[e], sharers[link] += sign;
        int from = 2 * units[p.source[e]], to = 2 * units[p.target[e]] + 1;
        use[from] += sign * p.load[e] * p.port_share, use[to] += sign * p.load[e] * p.port_share;
    }
};

class Router {
  public:
    Problem p;
    std::vector<State> current, proposed;

    void prepare() {
        best_.resize(p.tiles), link_to_.resize(p.tiles), came_.resize(p.tiles);
        p.order.resize(p.edges);
        std::iota(p.order.begin(), p.order.end(), 0);
        auto heavier = [&](int a, int b) { return p.load[a] > p.load[b]; };
        std::stable_sort(p.order.begin(), p.order.end(), heavier);
        p.touching.resize(p.nodes);
        for (int e : p.order) {
            p.touching[p.source[e]].push_back(e);
            if (p.target[e] != p.source[e]) p.touching[p.target[e]].push_back(e);
        }
    }

    // All edges from scratch. Returns the rounds taken; `left` is the load above the limit.
    int route(State& s, double& left) {
        double price = kPrice;
        std::vector<char> is_routed(p.edges, 0);
        int round = 0;
        while (round < p.rounds) {
            round++;
            for (int e : p.order) {
                auto is_over = [&](int link) { return s.use[link] > p.limit + 1e-9; };
                if (is_routed[e] && std::none_of(s.routes[e].begin(), s.routes[e].end(), is_over)) continue;
                if (is_routed[e]) s.add(p, e, -1);
                s.routes[e] = cheapest(s, e, price), is_routed[e] = 1;
                s.add(p, e, 1);
            }
            left = 0;
            for (int link = 2 * p.tiles; link < p.links; link++) {
                double over = s.use[link] - p.limit;
                if (over > 1e-9) left += over, s.past[link] += p.history;
            }
            if (left == 0) break;
            price *= p.growth;
        }
        return round;
    }

    // The edges of moved operations only, at the first price of overuse doubled `kSteps` times.
    void reroute(State& s, const int64_t* moved, const int64_t* units) {
        std::vector<int> edges;
        for (int i = 0; i < 2; i++)
            if (moved[i] >= 0) edges.insert(edges.end(), p.touching[moved[i]].begin(), p.touching[moved[i]].end());
        std::stable_sort(edges.begin(), edges.end(), [&](int a, int b) { return p.load[a] > p.load[b]; });
        std::vector<int> once;
        for (int e : edges)
            if (std::find(once.begin(), once.end(), e) == once.end()) once.push_back(e);
        for (int e : once) s.add(p, e, -1);
        for (int i = 0; i < 2; i++)
            if (moved[i] >= 0) s.units[moved[i]] = units[moved[i]];
        for (int e : once) s.routes[e] = cheapest(s, e, kPrice * kSteps), s.add(p, e, 1);
    }

    // Numbers by edge of a routed placement.
    void describe(const State& s, float* out) const {
        for (int e = 0; e < p.edges; e++) {
            double most = 0, sum = 0;
            int sharers = 0;
            for (int link : s.routes[e]) {
                most = std::max(most, s.use[link]), sum += s.use[link];
                sharers = std::max(sharers, s.sharers[link]);
            }
            double from = s.use[2 * s.units[p.source[e]]], to = s.use[2 * s.units[p.target[e]] + 1];
            float numbers[kFeatures] = {float(s.routes[e].size()), float(most), float(sum), float(sharers),
                                        float(std::max(from, to))};
            std::copy(numbers, numbers + kFeatures, out + e * kFeatures);
        }
    }

  private:
    static constexpr double kPrice = 0.5, kSteps = 16;
    std::vector<double> best_;
    std::vector<int> link_to_, came_;

    // Least links between two switches; a link costs at least 1.
    double least(int a, int b) const {
        return std::abs(a / p.columns - b / p.columns) + std::abs(a % p.columns - b % p.columns);
    }

    Route cheapest(const State& s, int e, double price) {
        int from = s.units[p.source[e]], to = s.units[p.target[e]];
        std::fill(best_.begin(), best_.end(), 1e300);
        using Item = std::tuple<double, double, int>;  // bound, cost, switch
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
        best_[from] = 0, queue.push({least(from, to), 0.0, from});
        while (!queue.empty()) {
            auto [bound, cost, at] = queue.top();
            queue.pop();
            if (at == to) break;
            if (cost > best_[at]) continue;
            for (const Way& way : p.ways[at]) {
                double after = s.use[way.link] + p.load[e];
                double over = std::max(0.0, after - p.limit);
                double reached = cost + (1 + s.past[way.link]) * (1 + p.spread * after + price * over);
                if (reached < best_[way.to]) {
                    best_[way.to] = reached, link_to_[way.to] = way.link, came_[way.to] = at;
                    queue.push({reached + least(way.to, to), reached, way.to});
                }
            }
        }
        Route path;
        for (int at = to; at != from; at = came_[at]) path.push_back(link_to_[at]);
        std::reverse(path.begin(), path.end());
        return path;
    }
};

}  // namespace

extern "C" {

void* router_new(const int64_t* sizes, const double* options, const int64_t* link_ends, const double* loads,
                 const int64_t* source, const int64_t* target) {
    auto* router = new Router;
    Problem& p = router->p;
    p.columns = sizes[0], p.tiles = sizes[1], p.links = sizes[2], p.nodes = sizes[3], p.edges = sizes[4];
    p.rounds = sizes[5];
    p.limit = options[0], p.growth = options[1], p.history = options[2], p.spread = options[3];
    p.port_share = options[4];
    p.ways.resize(p.tiles);
    for (int link = 2 * p.tiles; link < p.links; link++)
        p.ways[link_ends[2 * link]].push_back({link, int(link_ends[2 * link + 1])});
    p.load.assign(loads, loads + p.edges);
    p.source.assign(source, source + p.edges), p.target.assign(target, target + p.edges);
    router->prepare();
    return router;
}

void router_free(void* handle) { delete static_cast<Router*>(handle); }

// Routes placements from scratch. units: (count, nodes). features: (count, edges, kFeatures).
void router_start(void* handle, int64_t count, const int64_t* units, float* features, int64_t* rounds, double* left) {
    auto& router = *static_cast<Router*>(handle);
    const Problem& p = router.p;
    router.current.resize(count);
    for (int64_t c = 0; c < count; c++) {
        State& s = router.current[c];
        s.reset(p);
        std::copy(units + c * p.nodes, units + (c + 1) * p.nodes, s.units.begin());
        rounds[c] = router.route(s, left[c]);
        router.describe(s, features + c * p.edges * kFeatures);
    }
    router.proposed = router.current;
}

// Links of the current routes: lengths (edges) and links one after the other, at most `room`. Returns the links.
int64_t router_routes(void* handle, int64_t placement, int64_t room, int64_t* lengths, int64_t* links) {
    auto& router = *static_cast<Router*>(handle);
    int64_t count = 0;
    for (const Route& route : router.current[placement].routes) {
        *lengths++ = route.size();
        for (int link : route)
            if (count++ < room) *links++ = link;
    }
    return count;
}

// One move per placement. moved: (count, 2), -1 for none. units: (count, nodes) after it.
void router_propose(void* handle, const int64_t* moved, const int64_t* units, float* features) {
    auto& router = *static_cast<Router*>(handle);
    const Problem& p = router.p;
    for (size_t c = 0; c < router.proposed.size(); c++) {
        router.reroute(router.proposed[c], moved + 2 * c, units + c * p.nodes);
        router.describe(router.proposed[c], features + c * p.edges * kFeatures);
    }
}

// Keeps the proposed placements where `accepted`, and the current ones elsewhere.
void router_accept(void* handle, const uint8_t* accepted) {
    auto& router = *static_cast<Router*>(handle);
    for (size_t c = 0; c < router.proposed.size(); c++) {
        if (accepted[c]) router.current[c] = router.proposed[c];
        else router.proposed[c] = router.current[c];
    }
}

}  // extern "C"
