"""Operators of detection: boxes from anchors, the best of them, suppression, RoIAlign, deformable sampling.

Boxes are top, left, bottom, right in cells of the feature map, in fixed point. Their sizes are decoded as
distances from the centre in units of the anchor's size (as FCOS does), not as exponentials. Two boxes are
duplicates when their intersection is more than half of their union.
"""

from __future__ import annotations

from pipelines.programs.evaluation.workload import Operator

OPERATORS = (
    Operator(
        name="decode_boxes",
        family="detection",
        text="""
static void $name($E distance[$N][4][$H][$W], $E anchor[$N][2], $I rows, $I columns, $I anchors,
                  short out[$H * $W * $N][4]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int a = 0; a < anchors; a++) {
                int n = (r * columns + c) * anchors + a;
                for (int side = 0; side < 4; side++) {
                    short centre = (side & 1 ? c : r) * SCALE + SCALE / 2;
                    short reach = distance[a][side][r][c] * anchor[a][side & 1] >> FRACTION;
                    short end = (side & 1 ? columns : rows) * SCALE;
                    short place = side < 2 ? centre - reach : centre + reach;
                    out[n][side] = place < 0 ? 0 : place > end ? end : place;
                }
            }
        }
    }
}
""",
    ),
    Operator(
        name="select_top",
        family="sorting",
        text="""
static void $name($E score[$N][$H][$W], $I rows, $I columns, $I anchors, $I boxes, short out[$B]) {
    $E best[$B];
    unsigned char found = 0;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int a = 0; a < anchors; a++) {
                $E value = score[a][r][c];
                unsigned char place = found;
                while (place > 0 && value > best[place - 1]) {
                    if (place < boxes) {
                        best[place] = best[place - 1];
                        out[place] = out[place - 1];
                    }
                    place--;
                }
                if (place < boxes) {
                    best[place] = value;
                    out[place] = (r * columns + c) * anchors + a;
                    found += found < boxes;
                }
            }
        }
    }
}
""",
    ),
    Operator(
        name="suppress",
        family="detection",
        text="""
static void $name(short box[$H * $W * $N][4], short order[$B], $I boxes, unsigned char out[$B]) {
    for (int i = 0; i < boxes; i++) {
        out[i] = 1;
        for (int j = 0; j < i; j++) {
            if (out[j] == 0) {
                continue;
            }
            int common = 1;
            int first = 1;
            int second = 1;
            for (int d = 0; d < 2; d++) {
                short from = box[order[i]][d];
                short other = box[order[j]][d];
                short to = box[order[i]][d + 2];
                short end = box[order[j]][d + 2];
                short low = from > other ? from : other;
                short high = to < end ? to : end;
                short side = high > low ? high - low : 0;
                common *= side;
                first *= to - from;
                second *= end - other;
            }
            if (3 * common > first + second) {
                out[i] = 0;
                break;
            }
        }
    }
}
""",
    ),
    Operator(
        name="roi_align",
        family="detection",
        text="""
static void $name($E x[$C][$H][$W], short box[$H * $W * $N][4], short order[$B], unsigned char keep[$B],
                  $I rows, $I columns, $I boxes, $E out[$B][$C][$P][$P]) {
    for (int b = 0; b < boxes; b++) {
        if (keep[b] == 0) {
            continue;
        }
        short n = order[b];
        short height = (box[n][2] - box[n][0]) / $P;
        short width = (box[n][3] - box[n][1]) / $P;
        for (int i = 0; i < $P; i++) {
            short y = box[n][0] + ((2 * i + 1) * height >> 1) - SCALE / 2;
            y = y < 0 ? 0 : y > (rows - 1) * SCALE ? (rows - 1) * SCALE : y;
            unsigned char top = y >> FRACTION;
            unsigned char bottom = top + 1 < rows ? top + 1 : top;
            unsigned char down = y & (SCALE - 1);
            for (int j = 0; j < $P; j++) {
                short z = box[n][1] + ((2 * j + 1) * width >> 1) - SCALE / 2;
                z = z < 0 ? 0 : z > (columns - 1) * SCALE ? (columns - 1) * SCALE : z;
                unsigned char left = z >> FRACTION;
                unsigned char right = left + 1 < columns ? left + 1 : left;
                unsigned char across = z & (SCALE - 1);
                for (int k = 0; k < $C; k++) {
                    short above = x[k][top][left] * (SCALE - across) + x[k][top][right] * across;
                    short below = x[k][bottom][left] * (SCALE - across) + x[k][bottom][right] * across;
                    out[b][k][i][j] = (above * (SCALE - down) + below * down) >> (2 * FRACTION);
                }
            }
        }
    }
}
""",
    ),
    Operator(
        name="point_weights",
        family="attention",
        text="""
static void $name($E x[$N][$K], $E weight[$P][$K], $I queries, $I points, $E out[$N][$P]) {
    for (int n = 0; n < queries; n++) {
        short score[$P];
        short best = -SCALE * SCALE;
        for (int p = 0; p < points; p++) {
            int sum = 0;
            for (int k = 0; k < $K; k++) {
                sum += x[n][k] * weight[p][k];
            }
            score[p] = sum >> FRACTION;
            best = score[p] > best ? score[p] : best;
        }
        int total = 0;
        for (int p = 0; p < points; p++) {
            score[p] = exponential(best - score[p]);
            total += score[p];
        }
        for (int p = 0; p < points; p++) {
            out[n][p] = score[p] * SCALE / total;
        }
    }
}
""",
    ),
    Operator(
        name="sample_views",
        family="attention",
        text="""
static void $name($E value[$V][$H][$W][$K], $E place[$V][$N][2], $E offset[$N][$P * 2], $E share[$N][$P],
                  $I queries, $I points, $E out[$N][$K]) {
    for (int n = 0; n < queries; n++) {
        short sum[$K];
        unsigned char hits = 0;
        for (int k = 0; k < $K; k++) {
            sum[k] = 0;
        }
        for (int v = 0; v < $V; v++) {
            if (place[v][n][0] < 0 || place[v][n][1] < 0) {
                continue;
            }
            hits++;
            for (int p = 0; p < points; p++) {
                short y = place[v][n][0] + offset[n][2 * p];
                short z = place[v][n][1] + offset[n][2 * p + 1];
                for (int corner = 0; corner < 4; corner++) {
                    signed char r = (y >> FRACTION) + (corner >> 1);
                    signed char c = (z >> FRACTION) + (corner & 1);
                    if (r < 0 || r >= $H || c < 0 || c >= $W) {
                        continue;
                    }
                    unsigned char down = corner & 2 ? y & (SCALE - 1) : SCALE - (y & (SCALE - 1));
                    unsigned char across = corner & 1 ? z & (SCALE - 1) : SCALE - (z & (SCALE - 1));
                    unsigned char part = (down * across >> FRACTION) * share[n][p] >> FRACTION;
                    for (int k = 0; k < $K; k++) {
                        sum[k] += value[v][r][c][k] * part >> FRACTION;
                    }
                }
            }
        }
        for (int k = 0; k < $K; k++) {
            out[n][k] = hits > 0 ? saturate(sum[k] / hits) : 0;
        }
    }
}
""",
    ),
)
