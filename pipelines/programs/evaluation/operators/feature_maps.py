"""Operators of feature maps that move, compare or average: pooling, activation, attention gates, resizing."""

from __future__ import annotations

from pipelines.programs.evaluation.workload import Operator

_ACTIVATIONS = (
    ("relu", "", "x[k][r][c] > 0 ? x[k][r][c] : 0"),
    ("prelu", "$E slope[$C], ", "x[k][r][c] > 0 ? x[k][r][c] : $requantise(x[k][r][c] * slope[k])"),
    ("add", "$E y[$C][$H][$W], ", "$saturate(x[k][r][c] + y[k][r][c])"),
    ("scale_channels", "$E gate[$C], ", "$requantise(x[k][r][c] * gate[k])"),
    ("scale_positions", "$E map[1][$H][$W], ", "$requantise(x[k][r][c] * sigmoid(map[0][r][c]))"),
    ("tanh_image", "", "2 * sigmoid(2 * x[k][r][c]) - SCALE"),
)
"""Name, further arguments, and the value of an element."""

_FAMILIES = {"add": "elementwise", "scale_channels": "attention", "scale_positions": "attention"}


def _elementwise(name: str, further: str, value: str) -> Operator:
    text = f"""
static void $name($E x[$C][$H][$W], {further}$I rows, $I columns, $E out[$C][$H][$W]) {{
    for (int k = 0; k < $C; k++) {{
        for (int r = 0; r < rows; r++) {{
            for (int c = 0; c < columns; c++) {{
                out[k][r][c] = {value};
            }}
        }}
    }}
}}
"""
    return Operator(name=name, family=_FAMILIES.get(name, "activation"), text=text)


def _concatenation(parts: int) -> Operator:
    """Channels of several maps, one after another."""
    maps = ", ".join(f"$E x{p}[$C{p}][$H][$W]" for p in range(parts))
    total = " + ".join(f"$C{p}" for p in range(parts))
    copies = "".join(
        f"""            for (int k = 0; k < $C{p}; k++) {{
                out[{"".join(f"$C{q} + " for q in range(p))}k][r][c] = x{p}[k][r][c];
            }}
"""
        for p in range(parts)
    )
    text = f"""
static void $name({maps}, $I rows, $I columns,
                  $E out[{total}][$H][$W]) {{
    for (int r = 0; r < rows; r++) {{
        for (int c = 0; c < columns; c++) {{
{copies}        }}
    }}
}}
"""
    return Operator(name=f"concat{parts}", family="reshaping", text=text)


OPERATORS = (
    *(_elementwise(*row) for row in _ACTIVATIONS),
    _concatenation(2),
    _concatenation(4),
    Operator(
        name="max_pool2d",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C][$H / 2][$W / 2]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows / 2; r++) {
            for (int c = 0; c < columns / 2; c++) {
                $E best = x[k][2 * r][2 * c];
                for (int i = 0; i < 2; i++) {
                    for (int j = 0; j < 2; j++) {
                        if (x[k][2 * r + i][2 * c + j] > best) {
                            best = x[k][2 * r + i][2 * c + j];
                        }
                    }
                }
                out[k][r][c] = best;
            }
        }
    }
}
""",
    ),
    Operator(
        name="average_pool2d",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C][$H / 2][$W / 2]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows / 2; r++) {
            for (int c = 0; c < columns / 2; c++) {
                $A sum = x[k][2 * r][2 * c] + x[k][2 * r][2 * c + 1];
                sum += x[k][2 * r + 1][2 * c] + x[k][2 * r + 1][2 * c + 1];
                out[k][r][c] = sum$quarter;
            }
        }
    }
}
""",
    ),
    Operator(
        name="adaptive_pool2d",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C][$B][$B]) {
    for (int i = 0; i < $B; i++) {
        int top = i * rows / $B;
        int bottom = ((i + 1) * rows + $B - 1) / $B;
        for (int j = 0; j < $B; j++) {
            int left = j * columns / $B;
            int right = ((j + 1) * columns + $B - 1) / $B;
            for (int k = 0; k < $C; k++) {
                int total = 0;
                for (int r = top; r < bottom; r++) {
                    for (int c = left; c < right; c++) {
                        total += x[k][r][c];
                    }
                }
                out[k][i][j] = total / ((bottom - top) * (right - left));
            }
        }
    }
}
""",
    ),
    Operator(
        name="resize_bins",
        family="reshaping",
        text="""
static void $name($E x[$C][$B][$B], $I rows, $I columns, $E out[$C][$H][$W]) {
    for (int r = 0; r < rows; r++) {
        int i = r * $B / rows;
        for (int c = 0; c < columns; c++) {
            int j = c * $B / columns;
            for (int k = 0; k < $C; k++) {
                out[k][r][c] = x[k][i][j];
            }
        }
    }
}
""",
    ),
    Operator(
        name="upsample2d",
        family="reshaping",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C][$H * 2][$W * 2]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows * 2; r++) {
            for (int c = 0; c < columns * 2; c++) {
                out[k][r][c] = x[k][r >> 1][c >> 1];
            }
        }
    }
}
""",
    ),
    Operator(
        name="pixel_shuffle",
        family="reshaping",
        text="""
static void $name($E x[$C * 4][$H][$W], $I rows, $I columns, $E out[$C][$H * 2][$W * 2]) {
    for (int k = 0; k < $C; k++) {
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                for (int r = 0; r < rows; r++) {
                    for (int c = 0; c < columns; c++) {
                        out[k][2 * r + i][2 * c + j] = x[4 * k + 2 * i + j][r][c];
                    }
                }
            }
        }
    }
}
""",
    ),
    Operator(
        name="global_average_pool",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C]) {
    for (int k = 0; k < $C; k++) {
        int sum = 0;
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                sum += x[k][r][c];
            }
        }
        out[k] = sum / (rows * columns);
    }
}
""",
    ),
    Operator(
        name="global_max_pool",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[$C]) {
    for (int k = 0; k < $C; k++) {
        int best = x[k][0][0];
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                best = x[k][r][c] > best ? x[k][r][c] : best;
            }
        }
        out[k] = best;
    }
}
""",
    ),
    Operator(
        name="squeeze_excite",
        family="linear",
        text="""
static void $name($E x[$C], $E squeeze[$R][$C], $E excite[$C][$R], $E out[$C]) {
    $A hidden[$R];
    for (int i = 0; i < $R; i++) {
        $A sum = 0;
        for (int k = 0; k < $C; k++) {
            sum += x[k] * squeeze[i][k];
        }
        $A value = $requantise(sum);
        hidden[i] = value > 0 ? value : 0;
    }
    for (int k = 0; k < $C; k++) {
        $A sum = 0;
        for (int i = 0; i < $R; i++) {
            sum += hidden[i] * excite[k][i];
        }
        out[k] = $requantise(sum);
    }
}
""",
    ),
    Operator(
        name="sigmoid_gate",
        family="activation",
        text="""
static void $name($E x[$C], $E y[$C], $E out[$C]) {
    for (int k = 0; k < $C; k++) {
        out[k] = sigmoid(x[k] + y[k]);
    }
}
""",
    ),
    Operator(
        name="channel_pool",
        family="pooling",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, $E out[2][$H][$W]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            int sum = 0;
            int best = x[0][r][c];
            for (int k = 0; k < $C; k++) {
                sum += x[k][r][c];
                if (x[k][r][c] > best) {
                    best = x[k][r][c];
                }
            }
            out[0][r][c] = sum / $C;
            out[1][r][c] = best;
        }
    }
}
""",
    ),
    Operator(
        name="argmax_map",
        family="reduction",
        text="""
static void $name($E x[$C][$H][$W], $I rows, $I columns, unsigned char out[$H][$W]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            int best = 0;
            for (int k = 1; k < $C; k++) {
                if (x[k][r][c] > x[best][r][c]) {
                    best = k;
                }
            }
            out[r][c] = best;
        }
    }
}
""",
    ),
)
