/* Features of streams and flows, and quantiles of waits by a law; see features.py, tails.py, wait_law.py.

   Columns of by_data and by_acks are float: products of two of them are, too. */

#include <math.h>
#include <stdint.h>

static double larger(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

/* FEATURES of the streams in use, from columns of queues and of streams; spreads are of the former. */
void stream_features(int64_t count, const int64_t *used, const int32_t *queue_of, const int32_t *before_of,
                     const int64_t *rates_bps, const double *utilisations, const double *arrival_scvs,
                     const double *departure_scvs, const double *service_scvs, const double *finite,
                     const double *means_s, const double *bursts, const double *concentrations,
                     const double *stream_scvs, const double *stream_rates, const double *stream_utilisations,
                     const double *stream_service2_s, const double *stream_bursts_s, const double *own_rates,
                     const double *own_utilisations, const double *entropy_s, const double *tree_s,
                     const double *larger_s, const double *spreads, double small_wait, double near_idle,
                     int64_t is_on_off, int64_t is_ack, float *features) {
    for (int64_t sample = 0; sample < count; sample++) {
        int64_t stream = used[sample], queue = queue_of[stream], source = before_of[stream];
        double mean_s = means_s[queue], utilisation = utilisations[queue], mine = stream_utilisations[stream];
        double used_before = 0.0, share_before = 0.0, scv_before = 1.0;
        if (source >= 0) {
            used_before = utilisations[source];
            scv_before = departure_scvs[source];
            share_before = mine * (double)rates_bps[queue] / (double)rates_bps[source] / larger(used_before, 1e-12);
        }
        double entropy = log(entropy_s[stream] / mean_s + small_wait);
        double tree = log(tree_s[stream] / mean_s + small_wait);
        double most = smaller(utilisation, 1.5);
        float *row = features + 26 * sample;
        row[0] = utilisation;
        row[1] = log(larger(near_idle, 1.0 - utilisation));
        row[2] = mine / utilisation;
        row[3] = used_before;
        row[4] = share_before;
        row[5] = log(own_utilisations[stream] / own_rates[stream] / mean_s);
        row[6] = log(larger(stream_scvs[stream], 0.01));
        row[7] = log(larger(arrival_scvs[queue], 0.01));
        row[8] = log(larger(scv_before, 0.01));
        row[9] = sqrt(service_scvs[queue]);
        row[10] = bursts[queue];
        row[11] = log1p(larger(-0.99, stream_bursts_s[stream] / stream_service2_s[stream]));
        row[12] = concentrations[queue];
        row[13] = source < 0 ? 1.0 : 0.0;
        row[14] = finite[queue];
        row[15] = spreads[sample];
        row[16] = is_on_off ? 1.0 : 0.0;
        row[17] = smaller(5.0, larger_s[stream] / mean_s);
        row[18] = log(mine / stream_rates[stream] / mean_s);
        row[19] = entropy;
        row[20] = tree;
        row[21] = entropy - tree;
        row[22] = mine;
        row[23] = utilisation - mine;
        row[24] = (most * most) * (most * most);
        row[25] = is_ack ? 1.0 : 0.0;
    }
}

/* TAIL_FEATURES (flows, 19), filled with 0; mean, variance, logarithm of no wait, unit and share of the law,
   from column begin of (5, all flows), filled with 0. */
void flow_laws(int64_t count, int64_t longest, const int32_t *ways, int64_t longest_back, const int32_t *ways_back,
               int64_t has_acks, const double *mean_bytes, const double *scvs, const double *base_s,
               const double *variance_s2, const double *byte_s, const float *by_data, const float *by_acks,
               const int64_t *first, const int64_t *position, int64_t entry, int64_t is_batch, int64_t is_on_off,
               double small_wait, double alone, double nearly_full, double full, float *features, int64_t all_flows,
               int64_t begin, double *laws) {
    for (int64_t flow = 0; flow < count; flow++) {
        /* Sums: wait, squared waits, time of sending x wait, cumulants, logarithm of no wait, bursts x wait. */
        double wait = 0.0, squares = 0.0, service = 0.0, c1 = 0.0, c2 = 0.0, c3 = 0.0, none = 0.0, bursts = 0.0;
        double most = 0.0, ack_wait = 0.0, met = 0.0, reach = 0.0, chain = 0.0, following = 0.0, behind_before = 0.0;
        double busiest = 0.0, cubes = 0.0, places = 0.0, crossing = 0.0, entering = 0.0, theory = 0.0;
        int64_t place = 0;
        if (!is_on_off && scvs[flow] != 1.0) {
            double more = larger(-0.45, (scvs[flow] - 1.0) / 2.0);
            double own = 0.0; /* a batch is as far apart as the slowest link sends it */
            for (int64_t hop = 0; hop < longest; hop++) {
                int64_t queue = ways[flow * longest + hop];
                if (queue >= 0) own = larger(own, mean_bytes[flow] * byte_s[queue]);
            }
            c1 += more * own;
            c2 += (1.0 + more) * more * (own * own);
            c3 += (1.0 + more) * more * (2.0 * more + 1.0) * (own * (own * own));
            none -= log1p(more);
        }
        for (int64_t back = 0; back < (has_acks ? 2 : 1); back++) {
            int64_t length = back ? longest_back : longest, before = -1;
            const int32_t *route = back ? ways_back + flow * longest_back : ways + flow * longest;
            double c2_here = c2;
            for (int64_t hop = 0; hop < length; hop++) {
                int64_t queue = route[hop];
                if (queue < 0) break;
                int64_t stream = before < 0 ? entry + queue : first[before] + position[queue];
                const float *row = (back ? by_acks : by_data) + 12 * stream;
                float here = row[0];
                wait += here;
                squares += here * here;
                cubes += here * (here * here);
                places += (double)here * (double)place;
                place++;
                service += here * row[1];
                /* A queue in which packets wait less than by theory widens their waits less, too. */
                double scale = is_batch || is_on_off ? 1.0 : smaller(1.0, here / larger(row[2], 1e-30));
                crossing += 2.0 * row[11] * (c2 - c2_here * (double)back);
                c1 += row[2] * scale;
                c2 += row[3] * (scale * scale);
                c3 += row[4] * (scale * (scale * scale));
                none += row[5] * scale;
                theory += row[2];
                bursts += here * row[6];
                most = larger(most, here);
                if (before < 0 && back == 0) entering = here;
                busiest = larger(busiest, row[10]);
                if (back) {
                    float longer = row[7], behind = row[8], share = row[9], one = behind * longer;
                    ack_wait += here;
                    following *= share;
                    chain += 2.0 * longer * following - 2.0 * one * met;
                    c1 += one;
                    c2 += one * longer - one * one;
                    c3 += one * longer * longer;
                    none += log1p(-larger(0.0, behind - behind_before * share));
                    following += one;
                    met += one;
                    reach += longer;
                    behind_before = behind;
                }
                before = queue;
            }
        }
        if (wait <= 0.0 || c1 <= 0.0) continue;
        c2 = larger(c2 + chain, 1e-3 * c1 * c1);
        double share = most / wait;
        service /= wait;
        double mean = is_batch ? pow(wait, 1.0 - share) * pow(c1, share) : wait;
        double unit = mean + small_wait * service, ratio = mean / c1;
        double *law = laws + begin + flow;
        law[0] = mean;
        law[all_flows] = c2 * (ratio * ratio);
        law[2 * all_flows] = none;
        law[3 * all_flows] = is_batch || is_on_off ? unit : unit * (1.0 + alone - entering / wait);
        law[4 * all_flows] = smaller(1.0, larger(0.0, (full - busiest) / (full - nearly_full)));
        float *of_flow = features + 19 * flow;
        of_flow[0] = log(mean / service + small_wait);
        of_flow[1] = larger(none, -6.0);
        of_flow[2] = log(c1 * c1 / c2);
        of_flow[3] = log(larger(c3, 1e-300)) - 1.5 * log(c2);
        of_flow[4] = log(smaller(larger(mean / larger(theory, 1e-30), 0.05), 20.0));
        of_flow[5] = share;
        of_flow[6] = log(wait * wait / squares);
        of_flow[7] = ack_wait / wait;
        of_flow[8] = log(reach / unit + 0.1);
        of_flow[9] = met / unit;
        of_flow[10] = (chain > 0.0 ? 1.0 : chain < 0.0 ? -1.0 : 0.0) * sqrt(fabs(chain) / c2);
        of_flow[11] = log(base_s[flow] / unit);
        of_flow[12] = log(larger(scvs[flow], 0.01));
        of_flow[13] = bursts / wait;
        of_flow[14] = is_on_off ? 1.0 : 0.0;
        of_flow[15] = log(wait * wait / variance_s2[flow]);
        of_flow[16] = log(wait * (wait * wait) / cubes);
        of_flow[17] = places / wait / (double)(place - 1 > 1 ? place - 1 : 1);
        of_flow[18] = sqrt(larger(0.0, crossing) / c2); /* rounding makes nothing less than nothing */
    }
}

/* Quantiles of what is 0 with a probability and else gamma-distributed, times those of shapes; between lines
   of both tables, whose grids are least, most and number of lines: table (shapes, levels), shapes (waiting,
   levels). */
void law_quantiles(int64_t count, const double *means, const double *variances, const double *log_no_waits,
                   const double *probabilities, const double *shape_grid, const double *level_grid,
                   const double *waiting_grid, const double *table, int64_t waiting_count, const double *shapes,
                   double *quantiles_s) {
    int64_t levels = (int64_t)level_grid[2];
    for (int64_t flow = 0; flow < count; flow++) {
        double mean = means[flow], waiting = -expm1(log_no_waits[flow]), beyond = 1.0 - probabilities[flow];
        quantiles_s[flow] = 0.0;
        if (mean <= 0.0 || beyond >= waiting) continue;
        double scv = larger(0.02, waiting * (variances[flow] / (mean * mean) + 1.0) - 1.0);
        double x = (-log(scv) - shape_grid[0]) / (shape_grid[1] - shape_grid[0]) * (shape_grid[2] - 1);
        double y = (sqrt(-log(beyond / waiting)) - level_grid[0]) / (level_grid[1] - level_grid[0]) *
                   (level_grid[2] - 1);
        x = smaller(larger(x, 0.0), shape_grid[2] - 1.001);
        y = smaller(larger(y, 0.0), level_grid[2] - 1.001);
        int64_t i = (int64_t)x, j = (int64_t)y;
        x -= i;
        y -= j;
        const double *line = table + i * levels + j, *next = line + levels;
        double low = line[0] * (1.0 - y) + line[1] * y, high = next[0] * (1.0 - y) + next[1] * y;
        double z = (waiting - waiting_grid[0]) / (waiting_grid[1] - waiting_grid[0]) * (double)(waiting_count - 1);
        z = smaller(larger(z, 0.0), waiting_count - 1.001);
        int64_t k = (int64_t)z;
        z -= k;
        const double *shape = shapes + k * levels + j, *other = shape + levels;
        double of_shape = (1.0 - z) * (shape[0] * (1.0 - y) + shape[1] * y);
        of_shape += z * (other[0] * (1.0 - y) + other[1] * y);
        quantiles_s[flow] = (low * (1.0 - x) + high * x) * of_shape * mean / waiting;
    }
}
