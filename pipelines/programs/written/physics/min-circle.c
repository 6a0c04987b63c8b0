#include <math.h>
#ifndef PTS
#define PTS 80
#endif
#ifndef GROUPS
#define GROUPS 4
#endif

struct Kreis { double mx, my, r2; };

static int enthaelt(const struct Kreis *k, const double *p)
{
    double dx = p[0] - k->mx, dy = p[1] - k->my;
    return dx * dx + dy * dy <= k->r2 * (1.0 + 1e-10) + 1e-12;
}

static struct Kreis aus_zwei(const double *a, const double *b)
{
    struct Kreis k;
    k.mx = (a[0] + b[0]) / 2;
    k.my = (a[1] + b[1]) / 2;
    k.r2 = ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])) / 4;
    return k;
}

static struct Kreis aus_drei(const double *a, const double *b, const double *c)
{
    double bx = b[0] - a[0], by = b[1] - a[1], cx = c[0] - a[0], cy = c[1] - a[1];
    double d = 2 * (bx * cy - by * cx);
    double b2 = bx * bx + by * by, c2 = cx * cx + cy * cy;
    struct Kreis k;

    if (fabs(d) < 1e-12) {                      /* auf einer Geraden: groesster Abstand */
        struct Kreis k1 = aus_zwei(a, b), k2 = aus_zwei(a, c), k3 = aus_zwei(b, c);
        k = k1.r2 > k2.r2 ? k1 : k2;
        return k3.r2 > k.r2 ? k3 : k;
    }
    k.mx = (cy * b2 - by * c2) / d;
    k.my = (bx * c2 - cx * b2) / d;
    k.r2 = k.mx * k.mx + k.my * k.my;
    k.mx += a[0];
    k.my += a[1];
    return k;
}

/* Kleinster umschliessender Kreis je Gruppe (Welzl, iterativ; die Eingabe ist schon
   gemischt). Rueckgabe: Zahl der Neuberechnungen. */
int kleinster_kreis(const double punkte[GROUPS][PTS][2], double kreise[GROUPS][3])
{
    int neu = 0;

    for (int g = 0; g < GROUPS; g++) {
        const double (*p)[2] = punkte[g];
        struct Kreis k = { p[0][0], p[0][1], 0.0 };

        for (int i = 1; i < PTS; i++) {
            if (enthaelt(&k, p[i])) continue;
            k = (struct Kreis){ p[i][0], p[i][1], 0.0 };
            for (int j = 0; j < i; j++) {
                if (enthaelt(&k, p[j])) continue;
                k = aus_zwei(p[i], p[j]);
                for (int l = 0; l < j; l++) {
                    if (enthaelt(&k, p[l])) continue;
                    k = aus_drei(p[i], p[j], p[l]);
                    neu++;
                }
            }
        }
        kreise[g][0] = k.mx;
        kreise[g][1] = k.my;
        kreise[g][2] = sqrt(k.r2);
    }
    return neu;
}
