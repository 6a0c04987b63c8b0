#ifndef COUNT
#define COUNT 500
#endif

/* Quicksort with two pivots and a stack of its own.
 * Ranges up to CUTOFF elements are left for one final insertion sort. */

#define CUTOFF 12
#define SWAP(x, y) do { short t_ = (x); (x) = (y); (y) = t_; } while (0)
#define PUSH(f, l)                       \
    do {                                 \
        if ((l) - (f) + 1 > CUTOFF) {    \
            stack[depth].first = (f);    \
            stack[depth++].last = (l);   \
        }                                \
    } while (0)

/* Ranges on the stack are disjoint and longer than CUTOFF. */
static struct { int first, last; } stack[COUNT / CUTOFF + 1];

int dual_pivot_sort(short a[COUNT])
{
    int depth = 0, deepest = 0, i, j;

    PUSH(0, COUNT - 1);
    while (depth > 0) {
        int first, last, lt, gt, third;
        short p, q;

        if (depth > deepest)
            deepest = depth;
        depth--;
        first = stack[depth].first;
        last = stack[depth].last;

        /* pivots from one and two thirds of the range */
        third = (last - first) / 3;
        SWAP(a[first], a[first + third]);
        SWAP(a[last], a[last - third]);
        if (a[first] > a[last])
            SWAP(a[first], a[last]);
        p = a[first];
        q = a[last];

        lt = first + 1;             /* a[first+1 .. lt-1] < p      */
        gt = last - 1;              /* a[gt+1 .. last-1]  > q      */
        i = lt;                     /* a[lt .. i-1] between p and q */
        while (i <= gt) {
            if (a[i] < p) {
                SWAP(a[i], a[lt]);
                lt++;
                i++;
            } else if (a[i] > q) {
                SWAP(a[i], a[gt]);
                gt--;
            } else
                i++;
        }
        SWAP(a[first], a[lt - 1]);
        SWAP(a[last], a[gt + 1]);
        lt--;
        gt++;

        PUSH(first, lt - 1);
        PUSH(gt + 1, last);
        if (p != q)                 /* else the middle is all equal */
            PUSH(lt + 1, gt - 1);
    }

    for (i = 1; i < COUNT; i++) {
        short x = a[i];
        for (j = i; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
    return deepest;
}
