// Routes of placed graphs by negotiated congestion (PathFinder), for many placements of one graph.
//
// The rules are those of `pipelines.fabric.routing.route`.
//
// Usage: router PROBLEMS ROUTES   (PROBLEMS: 64-bit floats; ROUTES: 64-bit floats)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

namespace {

struct Way { int link, to; };

struct Router {
    int columns, tiles, links, edges;
    double limit, growth, history, spread;
    int rounds;
    std::vector<std::vector<Way>> ways;  // by switch
    std::vector<double> load, use, past;
    std::vector<int> source, target;
    std::vector<std::vector<int>> routes;

    // Least links between two switches; a link costs at least 1.
    double least(int a, int b) const {
        return std::abs(a / columns - b / columns) + std::abs(a % columns - b % columns);
    }

    std::vector<int> cheapest(int from, int to, double own, double price) const {
        std::vector<double> best(tiles, 1e300);
        std::vector<int> link_to(tiles, -1), came(tiles, -1);
        using Item = std::tuple<double, double, int>;  // bound, cost, switch
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
        best[from] = 0, queue.push({least(from, to), 0.0, from});
        while (!queue.empty()) {
            auto [bound, cost, at] = queue.top();
            queue.pop();
            if (at == to) break;
            if (cost > best[at]) continue;
            for (const Way& way : ways[at]) {
                double after = use[way.link] + own;
                double over = std::max(0.0, after - limit);
                double reached = cost + (1 + past[way.link]) * (1 + spread * after + price * over);
                if (reached < best[way.to]) {
                    best[way.to] = reached, link_to[way.to] = way.link, came[way.to] = at;
                    queue.push({reached + least(way.to, to), reached, way.to});
                }
            }
        }
        std::vector<int> path;
        for (int at = to; at != from; at = came[at]) path.push_back(link_to[at]);
        std::reverse(path.begin(), path.end());
        return path;
    }

    // Rounds taken; `left` is the load above the limit.
    int run(double& left) {
        std::vector<int> order(edges);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return load[a] > load[b]; });
        use.assign(links, 0), past.assign(links, 0), routes.assign(edges, {});
        std::vector<char> is_routed(edges, 0);
        double price = 0.5;
        int round = 0;
        while (round < rounds) {
            round++;
            for (int e : order) {
                auto is_over = [&](int link) { return use[link] > limit + 1e-9; };
                if (is_routed[e] && std::none_of(routes[e].begin(), routes[e].end(), is_over)) continue;
                for (int link : routes[e]) use[link] -= load[e];
                routes[e] = cheapest(source[e], target[e], load[e], price), is_routed[e] = 1;
                for (int link : routes[e]) use[link] += load[e];
            }
            left = 0;
            for (int link = 0; link < links; link++) {
                double over = use[link] - limit;
                if (over > 1e-9) left += over, past[link] += history;
            }
            if (left == 0) break;
            price *= growth;
        }
        return round;
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    FILE* file = fopen(argv[1], "rb");
    if (!file) return 3;
    std::vector<double> in, out;
    double buffer[4096];
    for (size_t got; (got = fread(buffer, 8, 4096, file)) > 0;) in.insert(in.end(), buffer, buffer + got);
    fclose(file);
    size_t at = 0;
    Router router;
    int placements = in.at(at++);
    router.columns = in.at(at++), router.tiles = in.at(at++);
    router.links = in.at(at++), router.edges = in.at(at++);
    router.limit = in.at(at++), router.rounds = in.at(at++);
    router.growth = in.at(at++), router.history = in.at(at++), router.spread = in.at(at++);
    router.ways.resize(router.tiles), router.source.resize(router.edges), router.target.resize(router.edges);
    for (int link = 0; link < router.links; link++) {
        int from = in.at(at++), to = in.at(at++);
        if (from != to) router.ways.at(from).push_back({link, to});
    }
    for (int e = 0; e < router.edges; e++) router.load.push_back(in.at(at++));
    for (int p = 0; p < placements; p++) {
        for (int& unit : router.source) unit = in.at(at++);
        for (int& unit : router.target) unit = in.at(at++);
        double left = 0;
        out.push_back(router.run(left));
        out.push_back(left);
        for (const auto& route : router.routes) {
            out.push_back(route.size());
            out.insert(out.end(), route.begin(), route.end());
        }
    }
    file = fopen(argv[2], "wb");
    if (!file) return 4;
    bool whole = fwrite(out.data(), 8, out.size(), file) == out.size();
    return fclose(file) == 0 && whole ? 0 : 5;
}
