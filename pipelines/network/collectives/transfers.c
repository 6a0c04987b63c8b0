/* Times of transfers that share queues, with barriers between the steps of a job.

   Arrays are in rows. Compiled at first use by pipelines/network/compiled.py. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define BEGINS (-1) /* no transfer: a step begins */
#define ROUNDING 1e-12

typedef struct {
    double head_s, tail_s, bits;
    int64_t order, transfer, job, hop;
} Piece;

typedef struct {
    Piece *pieces;
    int64_t count, room, order;
} Heap;

static int is_before(const Piece *a, const Piece *b) {
    return a->head_s != b->head_s ? a->head_s < b->head_s : a->order < b->order;
}

/* Returns 1 without memory. */
static int push(Heap *heap, Piece piece) {
    if (heap->count == heap->room) {
        heap->room = heap->room ? 2 * heap->room : 1024;
        Piece *larger = realloc(heap->pieces, (size_t)heap->room * sizeof *larger);
        if (!larger) return 1;
        heap->pieces = larger;
    }
    piece.order = heap->order++;
    int64_t at = heap->count++;
    for (; at > 0 && is_before(&piece, &heap->pieces[(at - 1) / 2]); at = (at - 1) / 2)
        heap->pieces[at] = heap->pieces[(at - 1) / 2];
    heap->pieces[at] = piece;
    return 0;
}

static Piece pop(Heap *heap) {
    Piece first = heap->pieces[0], last = heap->pieces[--heap->count];
    int64_t at = 0;
    for (int64_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && is_before(&heap->pieces[child + 1], &heap->pieces[child])) child++;
        if (!is_before(&heap->pieces[child], &last)) break;
        heap->pieces[at] = heap->pieces[child];
        at = child;
    }
    if (heap->count > 0) heap->pieces[at] = last;
    return first;
}

/* Ends of all steps, in seconds, where queues serve pieces of transfers in the order in which their heads come.
   A piece goes on as soon as its first packet is there; its tail leaves when the queue has sent it, not before the
   tail has come.

   starts_s: (jobs,). step_first: (jobs + 1,) of each job's steps. patterns: (steps,) what a step transfers.
   pattern_first: (patterns + 1,) of each pattern's transfers. bits, packet_bits: (transfers,) on the wire, and of the
   largest packet. pieces: of each transfer at most, of whole packets. route_first: (transfers + 1,), into routes. rates_bps, delays_s: (queues,).
   known_s: (patterns,) scratch. ends_s: (steps,). Returns 0, or 1 without memory. */
int64_t step_ends(int64_t job_count, const double *starts_s, const int64_t *step_first, const int32_t *patterns,
                  int64_t pattern_count, const int64_t *pattern_first, const double *bits, const double *packet_bits,
                  int64_t pieces, const int64_t *route_first, const int32_t *routes, int64_t queue_count,
                  const double *rates_bps, const double *delays_s, double *known_s, double *ends_s) {
    double *free_s = calloc((size_t)queue_count, sizeof *free_s), *begun_s = calloc((size_t)job_count, sizeof *begun_s);
    int64_t *step = malloc((size_t)job_count * sizeof *step), *open = calloc((size_t)job_count, sizeof *open);
    Heap heap = {0};
    int failed = !free_s || !begun_s || !step || !open;
    for (int64_t pattern = 0; pattern < pattern_count; pattern++) known_s[pattern] = -1.0;
    for (int64_t job = 0; job < job_count && !failed; job++) {
        step[job] = step_first[job] - 1;
        failed = push(&heap, (Piece){.head_s = starts_s[job], .transfer = BEGINS, .job = job});
    }
    while (heap.count > 0 && !failed) {
        Piece own = pop(&heap);
        if (own.transfer == BEGINS) {
            if (++step[own.job] == step_first[own.job + 1]) continue;
            int32_t pattern = patterns[step[own.job]];
            begun_s[own.job] = ends_s[step[own.job]] = own.head_s;
            if (job_count == 1 && known_s[pattern] >= 0.0) { /* queues are empty again: as long as an equal step */
                own.head_s = ends_s[step[own.job]] += known_s[pattern];
                failed = push(&heap, own);
                continue;
            }
            for (int64_t t = pattern_first[pattern]; t < pattern_first[pattern + 1]; t++) {
                int64_t packets = (int64_t)ceil(bits[t] / packet_bits[t] * (1.0 - ROUNDING));
                int64_t count = packets < pieces ? packets : pieces;
                double done_bits = 0.0;
                for (int64_t i = 1; i <= count && !failed; i++) {
                    double end_bits = i == count ? bits[t] : (double)(packets * i / count) * packet_bits[t];
                    failed = push(&heap, (Piece){.head_s = own.head_s, .tail_s = own.head_s, .bits = end_bits - done_bits,
                                                 .transfer = t, .job = own.job});
                    done_bits = end_bits;
                }
                open[own.job] += count;
            }
            continue;
        }
        double *end = &ends_s[step[own.job]];
        int64_t at = route_first[own.transfer] + own.hop;
        if (at == route_first[own.transfer + 1]) {
            if (own.tail_s > *end) *end = own.tail_s;
            if (--open[own.job] > 0) continue;
            known_s[patterns[step[own.job]]] = *end - begun_s[own.job];
            failed = push(&heap, (Piece){.head_s = *end, .transfer = BEGINS, .job = own.job});
            continue;
        }
        int32_t queue = routes[at];
        double packet_s = packet_bits[own.transfer] / rates_bps[queue];
        double work_s = own.bits / rates_bps[queue];
        if (packet_s > work_s) packet_s = work_s;
        double begin_s = own.head_s > free_s[queue] ? own.head_s : free_s[queue];
        double end_s = begin_s + work_s;
        free_s[queue] = end_s;
        if (own.tail_s + packet_s > end_s) end_s = own.tail_s + packet_s;
        own.head_s = begin_s + packet_s + delays_s[queue];
        own.tail_s = end_s + delays_s[queue];
        own.hop++;
        failed = push(&heap, own);
    }
    free(free_s), free(begun_s), free(step), free(open), free(heap.pieces);
    return failed;
}
