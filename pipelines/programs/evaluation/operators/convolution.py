"""Operators of feature maps that multiply by weights: convolutions, scales, the classifier."""

from __future__ import annotations

from pipelines.programs.evaluation.workload import Operator

OPERATORS = (
    Operator(
        name="normalise_image",
        family="normalisation",
        text="""
static void $name(unsigned char image[$C][$H][$W], $E mean[$C], $E inverse[$C], $I rows, $I columns,
                  $E out[$C][$H][$W]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = (image[k][r][c] * (1.0f / 255.0f) - mean[k]) * inverse[k];
            }
        }
    }
}
""",
    ),
    Operator(
        name="conv2d",
        family="convolution",
        text="""
static void $name($E x[$C][$H][$W], $E weight[$M][$C][$K][$K], $E bias[$M], $I rows, $I columns,
                  $E out[$M][$H][$W]) {
    for (int m = 0; m < $M; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                $A sum = bias[m]$scale;
                for (int k = 0; k < $C; k++) {
                    for (int i = 0; i < $K; i++) {
                        int y = r + (i - $K / 2) * $D;
                        if (y < 0 || y >= rows) {
                            continue;
                        }
                        for (int j = 0; j < $K; j++) {
                            int z = c + (j - $K / 2) * $D;
                            if (z >= 0 && z < columns) {
                                sum += x[k][y][z] * weight[m][k][i][j];
                            }
                        }
                    }
                }
                out[m][r][c] = $requantise(sum);
            }
        }
    }
}
""",
    ),
    Operator(
        name="depthwise_conv2d",
        family="convolution",
        text="""
static void $name($E x[$C][$H][$W], $E weight[$C][$K][$K], $E bias[$C], $I rows, $I columns,
                  $E out[$C][$H][$W]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int top = r < $K / 2 ? $K / 2 - r : 0;
                int bottom = rows - r + $K / 2 < $K ? rows - r + $K / 2 : $K;
                int left = c < $K / 2 ? $K / 2 - c : 0;
                int right = columns - c + $K / 2 < $K ? columns - c + $K / 2 : $K;
                $A sum = bias[k]$scale;
                for (int i = top; i < bottom; i++) {
                    for (int j = left; j < right; j++) {
                        sum += x[k][r + i - $K / 2][c + j - $K / 2] * weight[k][i][j];
                    }
                }
                out[k][r][c] = $requantise(sum);
            }
        }
    }
}
""",
    ),
    Operator(
        name="pointwise_conv2d",
        family="convolution",
        text="""
static void $name($E x[$C][$H][$W], $E weight[$M][$C], $E bias[$M], $I rows, $I columns, $I channels,
                  $E out[$M][$H][$W]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int m = 0; m < channels; m++) {
                $A sum = bias[m]$scale;
                for (int k = 0; k < $C; k++) {
                    sum += x[k][r][c] * weight[m][k];
                }
                out[m][r][c] = $requantise(sum);
            }
        }
    }
}
""",
    ),
    Operator(
        name="batch_norm",
        family="normalisation",
        text="""
static void $name($E x[$C][$H][$W], $E gain[$C], $E bias[$C], $I rows, $I columns, $E out[$C][$H][$W]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = $requantise(x[k][r][c] * gain[k] + bias[k]$scale);
            }
        }
    }
}
""",
    ),
    Operator(
        name="classifier",
        family="linear",
        text="""
static void $name($E x[$C][$H][$W], $E weight[$M][$C][$H][$W], $E bias[$M], $I rows, $I columns,
                  $E out[$M]) {
    for (int m = 0; m < $M; m++) {
        $A sum = bias[m]$scale;
        for (int k = 0; k < $C; k++) {
            for (int r = 0; r < rows; r++) {
                for (int c = 0; c < columns; c++) {
                    sum += x[k][r][c] * weight[m][k][r][c];
                }
            }
        }
        out[m] = $requantise(sum);
    }
}
""",
    ),
    Operator(
        name="aggregate",
        family="convolution",
        text="""
static void $name($E near[$C][$H][$W], $E middle[$C][$H][$W], $E far[$C][$H][$W], $E weight[3][$C], $I rows,
                  $I columns, $E out[$C][$H][$W]) {
    for (int k = 0; k < $C; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                $A sum = near[k][r][c] * weight[0][k];
                sum += middle[k][r][c] * weight[1][k];
                sum += far[k][r][c] * weight[2][k];
                $A value = $requantise(sum);
                out[k][r][c] = value > 0 ? value : 0;
            }
        }
    }
}
""",
    ),
)
