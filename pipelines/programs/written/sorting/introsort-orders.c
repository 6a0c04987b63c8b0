#include <stdint.h>
#include <stdlib.h>

#ifndef ORDERS
#define ORDERS 160
#endif

typedef struct Order {
    int64_t  price;
    uint32_t qty;
    uint32_t seq;
} Order;

typedef int (*OrderCmp)(const Order *, const Order *);

static int cmpBid(const Order *a, const Order *b)      /* dear first, then early */
{
    if (a->price != b->price) return a->price > b->price ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int cmpAsk(const Order *a, const Order *b)
{
    if (a->price != b->price) return a->price < b->price ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void swapOrders(Order *a, Order *b) { Order t = *a; *a = *b; *b = t; }

static void heapSort(Order *v, int n, OrderCmp cmp)
{
    for (int end = n, root = n / 2; end > 1; ) {
        if (root > 0) root--;
        else swapOrders(&v[0], &v[--end]);
        for (int i = root, c; (c = 2 * i + 1) < end; i = c) {
            if (c + 1 < end && cmp(&v[c], &v[c + 1]) < 0) c++;
            if (cmp(&v[i], &v[c]) >= 0) break;
            swapOrders(&v[i], &v[c]);
        }
    }
}

static void introSort(Order *v, int n, int depth, OrderCmp cmp)
{
    while (n > 12) {
        if (depth-- == 0) { heapSort(v, n, cmp); return; }
        /* median of three goes to the front */
        Order *mid = &v[n / 2], *last = &v[n - 1];
        if (cmp(mid, &v[0]) < 0) swapOrders(mid, &v[0]);
        if (cmp(last, &v[0]) < 0) swapOrders(last, &v[0]);
        if (cmp(last, mid) < 0) swapOrders(last, mid);
        swapOrders(&v[0], mid);
        int i = 0, j = n;
        for (;;) {
            do i++; while (i < n && cmp(&v[i], &v[0]) < 0);
            do j--; while (cmp(&v[j], &v[0]) > 0);
            if (i >= j) break;
            swapOrders(&v[i], &v[j]);
        }
        swapOrders(&v[0], &v[j]);
        if (j < n - 1 - j) { introSort(v, j, depth, cmp); v += j + 1; n -= j + 1; }
        else               { introSort(v + j + 1, n - 1 - j, depth, cmp); n = j; }
    }
    for (int i = 1; i < n; i++) {
        Order x = v[i];
        int j = i - 1;
        while (j >= 0 && cmp(&x, &v[j]) < 0) { v[j + 1] = v[j]; j--; }
        v[j + 1] = x;
    }
}

/* Sort both sides of an auction and cross them; returns the traded volume. */
uint64_t crossAuction(const int64_t *bidPx, const int64_t *askPx, const uint32_t *bidQty,
                      const uint32_t *askQty, Order *bids, Order *asks, int depthLimit)
{
    uint64_t volume = 0;
    for (int i = 0; i < ORDERS; i++) {
        bids[i] = (Order){ bidPx[i], bidQty[i], (uint32_t)i };
        asks[i] = (Order){ askPx[i], askQty[i], (uint32_t)i };
    }
    introSort(bids, ORDERS, depthLimit, cmpBid);
    introSort(asks, ORDERS, depthLimit, cmpAsk);

    for (int b = 0, a = 0; b < ORDERS && a < ORDERS && bids[b].price >= asks[a].price; ) {
        uint32_t q = bids[b].qty < asks[a].qty ? bids[b].qty : asks[a].qty;
        volume += q;
        bids[b].qty -= q;
        asks[a].qty -= q;
        if (!bids[b].qty) b++;
        if (!asks[a].qty) a++;
    }
    return volume;
}
