"""Operators of language models, in fixed point: embeddings, norms, attention in its kinds, gates.

Activations and weights have FRACTION bits behind the point. The roots and exponentials of integer-only
inference (I-BERT: Kim et al. 2021): `root` digit by digit, `exponential` and `sigmoid` from tables, GELU by a
polynomial of second degree for the error function.
"""

from __future__ import annotations

from pipelines.programs.evaluation.workload import Operator

_NORMALISE = """
        int sum = 0;
        for (int k = 0; k < $K; k++) {
            sum += row[k];
        }
        $E mean = sum / $K;
        int square = 0;
        for (int k = 0; k < $K; k++) {
            short far = row[k] - mean;
            square += far * far;
        }
        short deviation = root(square / $K) + 1;
        for (int k = 0; k < $K; k++) {
            short far = row[k] - mean;
            out[n][k] = saturate(far * gain[k] / deviation + bias[k]);
        }
    }
}
"""


def _attention(
    *, name: str, arguments: str, query: str, key: str, value: str, first: str, skip: str
) -> Operator:
    """Softmax attention, a head and a query at a time; keys that are skipped have no weight.

    Args:    arguments: of the function; query, key, value: elements of the token n or
             j; first: addend of a score besides the product; skip: condition of a key, `0` for none.
    """
    deeper = (
        ""
        if skip == "0"
        else f"""                    if ({skip}) {{
                        continue;
                    }}
"""
    )
    mask = (
        ""
        if skip == "0"
        else f"""                if ({skip}) {{
                    continue;
                }}
"""
    )
    text = f"""
static void $name({arguments}) {{
    for (int h = 0; h < $A; h++) {{
        for (int n = 0; n < tokens; n++) {{
            short score[$J];
            short best = -32767;
            for (int j = 0; j < keys; j++) {{
{mask}                int dot = {first};
                for (int d = 0; d < $D; d++) {{
                    dot += {query} * {key};
                }}
                score[j] = dot >> $S;
                best = score[j] > best ? score[j] : best;
            }}
            int total = 0;
            for (int j = 0; j < keys; j++) {{
{mask}                score[j] = exponential(best - score[j]);
                total += score[j];
            }}
            for (int d = 0; d < $D; d++) {{
                int sum = 0;
                for (int j = 0; j < keys; j++) {{
{deeper}                    sum += score[j] * {value};
                }}
                out[n][h * $D + d] = sum / total;
            }}
        }}
    }}
}}
"""
    return Operator(name=name, family="attention", text=text)


OPERATORS = (
    Operator(
        name="embed",
        family="gather_scatter",
        text="""
static void $name(unsigned char id[$N], $E word[$V][$K], $E position[$N][$K], $E segment[2][$K], $I tokens,
                  $I first, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        int side = n < first ? 0 : 1;
        for (int k = 0; k < $K; k++) {
            out[n][k] = saturate(word[id[n]][k] + position[n][k] + segment[side][k]);
        }
    }
}
""",
    ),
    Operator(
        name="embed_words",
        family="gather_scatter",
        text="""
static void $name(unsigned char id[$N], $E word[$V][$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < $K; k++) {
            out[n][k] = word[id[n]][k];
        }
    }
}
""",
    ),
    Operator(
        name="embed_counted",
        family="gather_scatter",
        text="""
static void $name(unsigned char id[$N], $E word[$V][$K], $E position[$N + 2][$K], $I tokens,
                  $E out[$N][$K]) {
    int place = 1;
    for (int n = 0; n < tokens; n++) {
        int row = 1;
        if (id[n] != 1) {
            place++;
            row = place;
        }
        for (int k = 0; k < $K; k++) {
            out[n][k] = saturate(word[id[n]][k] + position[row][k]);
        }
    }
}
""",
    ),
    Operator(
        name="linear",
        family="linear",
        text="""
static void $name($E x[$N][$K], $E weight[$M][$K], $E bias[$M], $I tokens, $E out[$N][$M]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < $M; m++) {
            int sum = bias[m] * SCALE;
            for (int k = 0; k < $K; k++) {
                sum += x[n][k] * weight[m][k];
            }
            out[n][m] = requantise(sum);
        }
    }
}
""",
    ),
    Operator(
        name="project",
        family="linear",
        text="""
static void $name($E x[$N][$K], $E weight[$K][$M], $I tokens, $E out[$N][$M]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < $M; m++) {
            int sum = 0;
            for (int k = 0; k < $K; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}
""",
    ),
    Operator(
        name="project_add",
        family="linear",
        text="""
static void $name($E x[$N][$K], $E weight[$K][$M], $E rest[$N][$M], $I tokens, $E out[$N][$M]) {
    for (int m = 0; m < $M; m++) {
        for (int n = 0; n < tokens; n++) {
            int sum = rest[n][m] * SCALE;
            for (int k = 0; k < $K; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}
""",
    ),
    Operator(
        name="layer_norm",
        family="normalisation",
        text="""
static void $name($E x[$N][$K], $E gain[$K], $E bias[$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        $E row[$K];
        for (int k = 0; k < $K; k++) {
            row[k] = x[n][k];
        }
"""
        + _NORMALISE.lstrip("\n"),
    ),
    Operator(
        name="add_norm",
        family="normalisation",
        text="""
static void $name($E x[$N][$K], $E rest[$N][$K], $E gain[$K], $E bias[$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        $E row[$K];
        for (int k = 0; k < $K; k++) {
            row[k] = saturate(x[n][k] + rest[n][k]);
        }
"""
        + _NORMALISE.lstrip("\n"),
    ),
    Operator(
        name="rms_norm",
        family="normalisation",
        text="""
static void $name($E x[$N][$K], $E gain[$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        int square = 0;
        for (int k = 0; k < $K; k++) {
            square += x[n][k] * x[n][k];
        }
        short size = root(square / $K) + 1;
        for (int k = 0; k < $K; k++) {
            out[n][k] = saturate(x[n][k] * gain[k] / size);
        }
    }
}
""",
    ),
    Operator(
        name="relu_tokens",
        family="activation",
        text="""
static void $name($E x[$N][$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < $K; k++) {
            out[n][k] = x[n][k] > 0 ? x[n][k] : 0;
        }
    }
}
""",
    ),
    Operator(
        name="add_tokens",
        family="elementwise",
        text="""
static void $name($E x[$N][$K], $E y[$N][$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < $K; k++) {
            out[n][k] = saturate(x[n][k] + y[n][k]);
        }
    }
}
""",
    ),
    Operator(
        name="gelu",
        family="activation",
        text="""
static void $name($E x[$N][$K], $I tokens, $E out[$N][$K]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < $K; k++) {
            short value = x[n][k];
            short size = (value < 0 ? -value : value) * 181 >> 8;
            short rest = size < 1769 * SCALE / 1000 ? 1769 * SCALE / 1000 - size : 0;
            short error = SCALE - ((rest * rest >> FRACTION) * 74 >> 8);
            out[n][k] = value * (SCALE + (value < 0 ? -error : error)) >> (FRACTION + 1);
        }
    }
}
""",
    ),
    Operator(
        name="silu_gate",
        family="activation",
        text="""
static void $name($E x[$N][$K], $E gate[$K][$M], $E up[$K][$M], $I tokens, $E out[$N][$M]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < $M; m++) {
            int left = 0;
            int right = 0;
            for (int k = 0; k < $K; k++) {
                left += x[n][k] * gate[k][m];
                right += x[n][k] * up[k][m];
            }
            left = requantise(left);
            out[n][m] = requantise((left * sigmoid(left) >> FRACTION) * requantise(right));
        }
    }
}
""",
    ),
    Operator(
        name="feed_forward",
        family="linear",
        text="""
static void $name($E x[$N][$K], $E inner[$F][$K], $E outer[$K][$F], $I queries, $E out[$N][$K]) {
    for (int n = 0; n < queries; n++) {
        $E hidden[$F];
        for (int f = 0; f < $F; f++) {
            int sum = 0;
            for (int k = 0; k < $K; k++) {
                sum += x[n][k] * inner[f][k];
            }
            hidden[f] = sum > 0 ? requantise(sum) : 0;
        }
        for (int k = 0; k < $K; k++) {
            int sum = x[n][k] * SCALE;
            for (int f = 0; f < $F; f++) {
                sum += hidden[f] * outer[k][f];
            }
            out[n][k] = requantise(sum);
        }
    }
}
""",
    ),
    Operator(
        name="relative_bias",
        family="gather_scatter",
        text="""
static void $name($E table[$B][$A], $I tokens, $E out[$A][$N][$N]) {
    for (int n = 0; n < tokens; n++) {
        for (int j = 0; j < tokens; j++) {
            int bucket = j > n ? $B / 2 : 0;
            int distance = j > n ? j - n : n - j;
            int step = 0;
            int edge = $B / 4;
            if (distance < edge) {
                step = distance;
            } else {
                step = edge;
                while (distance >= 2 * edge && step < $B / 2 - 1) {
                    edge = 2 * edge;
                    step++;
                }
            }
            for (int h = 0; h < $A; h++) {
                out[h][n][j] = table[bucket + step][h];
            }
        }
    }
}
""",
    ),
    Operator(
        name="rotate",
        family="elementwise",
        text="""
static void $name($E x[$N][$M], $E cosine[$N][$D / 2], $E sine[$N][$D / 2], $I tokens, $E out[$N][$M]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < $R; m += $D) {
            for (int d = 0; d < $D / 2; d++) {
                int left = x[n][m + 2 * d];
                int right = x[n][m + 2 * d + 1];
                out[n][m + 2 * d] = requantise(left * cosine[n][d] - right * sine[n][d]);
                out[n][m + 2 * d + 1] = requantise(left * sine[n][d] + right * cosine[n][d]);
            }
        }
        for (int m = $R; m < $M; m++) {
            out[n][m] = x[n][m];
        }
    }
}
""",
    ),
    _attention(
        name="attention",
        arguments="$E query[$N][$A * $D], $E key[$J][$A * $D], $E value[$J][$A * $D], $I tokens, $I keys,\n"
        "                  $E out[$N][$A * $D]",
        query="query[n][h * $D + d]",
        key="key[j][h * $D + d]",
        value="value[j][h * $D + d]",
        first="0",
        skip="0",
    ),
    _attention(
        name="biased_attention",
        arguments="$E query[$N][$A * $D], $E key[$J][$A * $D], $E value[$J][$A * $D],\n"
        "                  $E bias[$A][$N][$J], $I tokens, $I keys, $E out[$N][$A * $D]",
        query="query[n][h * $D + d]",
        key="key[j][h * $D + d]",
        value="value[j][h * $D + d]",
        first="bias[h][n][j] * SCALE",
        skip="0",
    ),
    _attention(
        name="fused_attention",
        arguments="$E x[$N][$A * $D * 3], unsigned char id[$J], $I tokens, $I keys,\n"
        "                  $E out[$N][$A * $D]",
        query="x[n][h * $D + d]",
        key="x[j][($A + h) * $D + d]",
        value="x[j][(2 * $A + h) * $D + d]",
        first="0",
        skip="id[j] == 1",
    ),
    _attention(
        name="grouped_attention",
        arguments="$E x[$N][($A + 2 * $G) * $D], $I tokens, $I keys, $E out[$N][$A * $D]",
        query="x[n][h * $D + d]",
        key="x[j][($A + h / ($A / $G)) * $D + d]",
        value="x[j][($A + $G + h / ($A / $G)) * $D + d]",
        first="0",
        skip="j > n",
    ),
)
