#include <math.h>
#include <string.h>
#ifndef NEX
#define NEX 48
#endif
#ifndef NATT
#define NATT 5
#endif
#ifndef ROUNDS
#define ROUNDS 6
#endif

/* Discrete AdaBoost with decision stumps on integer attributes 0..31. */
#define LEVELS 32

typedef struct { int att; int cut; int sign; int round; double alpha; } stump;

static int stump_says(const stump *s, const int *row) {
    return row[s->att] >= s->cut ? s->sign : -s->sign;
}

int adaboost(int x[NEX][NATT], const int label01[NEX], stump model[ROUNDS], double w[NEX]) {
    int used, wrong = 0;
    for (int i = 0; i < NEX; i++) w[i] = 1.0 / NEX;

    for (used = 0; used < ROUNDS; used++) {
        stump best = {0, 0, 1, used, 0.0};
        double best_err = 2.0;

        for (int a = 0; a < NATT; a++) {
            double pos[LEVELS] = {0}, neg[LEVELS] = {0};
            double err = 0;                 /* sign +1, cut 0: all are called positive */
            for (int i = 0; i < NEX; i++) {
                int l = x[i][a] & (LEVELS - 1);
                if (label01[i]) pos[l] += w[i];
                else { neg[l] += w[i]; err += w[i]; }
            }
            for (int cut = 0; cut < LEVELS; cut++) {
                if (err < best_err)       { best_err = err;       best = (stump){a, cut,  1, used, 0}; }
                if (1.0 - err < best_err) { best_err = 1.0 - err; best = (stump){a, cut, -1, used, 0}; }
                err += pos[cut] - neg[cut];
            }
        }
        if (best_err >= 0.4999) break;
        if (best_err < 1e-9) best_err = 1e-9;
        best.alpha = 0.5 * log((1.0 - best_err) / best_err);
        model[used] = best;

        double z = 0;
        for (int i = 0; i < NEX; i++) {
            int y = label01[i] ? 1 : -1;
            w[i] *= exp(-best.alpha * y * stump_says(&best, x[i]));
            z += w[i];
        }
        for (int i = 0; i < NEX; i++) w[i] /= z;
    }

    for (int i = 0; i < NEX; i++) {
        double s = 0;
        for (int r = 0; r < used; r++) s += model[r].alpha * stump_says(&model[r], x[i]);
        wrong += (s >= 0) != (label01[i] != 0);
    }
    return wrong;
}
