/* Needleman-Wunsch: best global alignment of two sequences, traced back with gaps written as '-'. */
#ifndef A_LENGTH
#define A_LENGTH 16
#endif
#ifndef B_LENGTH
#define B_LENGTH 16
#endif
#define MATCH 1
#define MISMATCH (-1)
#define GAP (-1)

enum move { ALIGN, SKIP_A, SKIP_B };

int nw(char a[A_LENGTH], char b[B_LENGTH], char aligned_a[A_LENGTH + B_LENGTH],
       char aligned_b[A_LENGTH + B_LENGTH])
{
    int score[B_LENGTH + 1][A_LENGTH + 1];
    char moves[B_LENGTH + 1][A_LENGTH + 1];
    int i, j, k;

    for (i = 0; i <= A_LENGTH; i++) {
        score[0][i] = i * GAP;
        moves[0][i] = SKIP_A;
    }
    for (j = 1; j <= B_LENGTH; j++) {
        score[j][0] = j * GAP;
        moves[j][0] = SKIP_B;
        for (i = 1; i <= A_LENGTH; i++) {
            int both = score[j - 1][i - 1] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
            int skip_b = score[j - 1][i] + GAP;
            int skip_a = score[j][i - 1] + GAP;
            int best = both > skip_b ? both : skip_b;

            best = best > skip_a ? best : skip_a;
            score[j][i] = best;
            if (best == both) {
                moves[j][i] = ALIGN;
            } else if (best == skip_b) {
                moves[j][i] = SKIP_B;
            } else {
                moves[j][i] = SKIP_A;
            }
        }
    }

    i = A_LENGTH;
    j = B_LENGTH;
    k = 0;
    while (i > 0 || j > 0) {
        switch (moves[j][i]) {
        case ALIGN:
            aligned_a[k] = a[--i];
            aligned_b[k] = b[--j];
            break;
        case SKIP_A:
            aligned_a[k] = a[--i];
            aligned_b[k] = '-';
            break;
        default:
            aligned_a[k] = '-';
            aligned_b[k] = b[--j];
            break;
        }
        k++;
    }
    for (; k < A_LENGTH + B_LENGTH; k++) {
        aligned_a[k] = '_';
        aligned_b[k] = '_';
    }
    return score[B_LENGTH][A_LENGTH];
}
