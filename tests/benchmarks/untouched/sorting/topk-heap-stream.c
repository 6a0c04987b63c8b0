// Keep the K best of a stream of scores. The worst of the kept ones is on
// top of a heap, so most of the stream is refused with one comparison.

#ifndef STREAM
#define STREAM 512
#endif
#ifndef K
#define K 16
#endif

struct hit {
	int score;
	unsigned id;
};

// a ranks behind b: lower score, or later in the stream
static int behind(struct hit a, struct hit b)
{
	if (a.score != b.score)
		return a.score < b.score;
	return a.id > b.id;
}

static void sift_down(struct hit *heap, unsigned size, unsigned at)
{
	struct hit moving = heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;
		if (child >= size)
			break;
		if (child + 1 < size && behind(heap[child + 1], heap[child]))
			child++;
		if (!behind(heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

unsigned top_hits(const int *score, unsigned *best_id, int *best_score)
{
	struct hit heap[K];
	unsigned i, replaced = 0;

	for (i = 0; i < K; i++) {
		heap[i].score = score[i];
		heap[i].id = i;
	}
	for (i = K / 2; i-- > 0; )
		sift_down(heap, K, i);

	for (i = K; i < STREAM; i++) {
		struct hit h = { score[i], i };
		if (!behind(heap[0], h))
			continue;
		heap[0] = h;
		sift_down(heap, K, 0);
		replaced++;
	}

	// empty the heap from the back: worst first, into the last place
	for (i = K; i-- > 0; ) {
		best_id[i] = heap[0].id;
		best_score[i] = heap[0].score;
		heap[0] = heap[i];
		sift_down(heap, i ? i : 1, 0);
	}
	return replaced;
}

int main(void)
{
	static int score[STREAM], best[K];
	static unsigned id[K];
	unsigned i, x = 12345;

	for (i = 0; i < STREAM; i++) {
		x = x * 1103515245u + 12345u;
		score[i] = (int)(x >> 16 & 0x3ff);
	}
	top_hits(score, id, best);
	for (i = 1; i < K; i++)
		if (best[i] > best[i - 1])
			return 1;
	return 0;
}
