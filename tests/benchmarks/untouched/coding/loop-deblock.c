#include <stdint.h>
#include <stddef.h>

#ifndef MBW
#define MBW 2
#endif
#ifndef MBH
#define MBH 2
#endif

#define STRIDE	(MBW * 16)
#define ROWS	(MBH * 16)
#define B4W	(MBW * 4)
#define B4H	(MBH * 4)

#define ABS(v)		((v) < 0 ? -(v) : (v))
#define CLIP3(lo, hi, v) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define PIX(v)		((uint8_t)CLIP3(0, 255, (v)))

/* thresholds, index is qp / 4 with offset already applied */
static const uint8_t alpha_tab[14] = { 0, 0, 0, 0, 5, 9, 15, 25, 40, 63, 101, 162, 226, 255 };
static const uint8_t beta_tab[14]  = { 0, 0, 0, 0, 3, 4,  6,  7,  9, 11,  13,  15,  17,  18 };
static const uint8_t clip_tab[14][3] = {
	{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1},
	{1, 1, 2}, {1, 2, 3}, {2, 3, 4}, {4, 5, 7}, {6, 8, 11}, {9, 12, 18}, {13, 17, 25},
};

struct edge {
	int bs;
	int idx;
};

/*
 * Four samples along one edge. @across steps over the edge, @along runs with
 * it. @q0 is the first sample behind the edge.
 */
static unsigned filter_edge(uint8_t *q0, ptrdiff_t across, ptrdiff_t along, struct edge e)
{
	const int alpha = alpha_tab[e.idx], beta = beta_tab[e.idx];
	unsigned touched = 0;
	int n;

	if (!e.bs || !alpha)
		return 0;

	for (n = 0; n < 4; n++, q0 += along) {
		int P0 = q0[-across], P1 = q0[-2 * across], P2 = q0[-3 * across];
		int Q0 = q0[0], Q1 = q0[across], Q2 = q0[2 * across];
		int ap, aq, tc, d;

		if (ABS(P0 - Q0) >= alpha || ABS(P1 - P0) >= beta || ABS(Q1 - Q0) >= beta)
			continue;

		touched++;
		ap = ABS(P2 - P0) < beta;
		aq = ABS(Q2 - Q0) < beta;

		if (e.bs == 4) {
			int strong = ABS(P0 - Q0) < (alpha >> 2) + 2;

			if (strong && ap) {
				int P3 = q0[-4 * across];
				q0[-across]     = (uint8_t)((P2 + 2 * P1 + 2 * P0 + 2 * Q0 + Q1 + 4) >> 3);
				q0[-2 * across] = (uint8_t)((P2 + P1 + P0 + Q0 + 2) >> 2);
				q0[-3 * across] = (uint8_t)((2 * P3 + 3 * P2 + P1 + P0 + Q0 + 4) >> 3);
			} else {
				q0[-across] = (uint8_t)((2 * P1 + P0 + Q1 + 2) >> 2);
			}
			if (strong && aq) {
				int Q3 = q0[3 * across];
				q0[0]          = (uint8_t)((P1 + 2 * P0 + 2 * Q0 + 2 * Q1 + Q2 + 4) >> 3);
				q0[across]     = (uint8_t)((P0 + Q0 + Q1 + Q2 + 2) >> 2);
				q0[2 * across] = (uint8_t)((2 * Q3 + 3 * Q2 + Q1 + Q0 + P0 + 4) >> 3);
			} else {
				q0[0] = (uint8_t)((2 * Q1 + Q0 + P1 + 2) >> 2);
			}
			continue;
		}

		tc = clip_tab[e.idx][e.bs - 1];
		if (ap)
			q0[-2 * across] = (uint8_t)(P1 + CLIP3(-tc, tc, (P2 + ((P0 + Q0 + 1) >> 1) - 2 * P1) >> 1));
		if (aq)
			q0[across] = (uint8_t)(Q1 + CLIP3(-tc, tc, (Q2 + ((P0 + Q0 + 1) >> 1) - 2 * Q1) >> 1));
		tc += ap + aq;
		d = CLIP3(-tc, tc, (((Q0 - P0) * 4) + (P1 - Q1) + 4) >> 3);
		q0[-across] = PIX(P0 + d);
		q0[0] = PIX(Q0 - d);
	}
	return touched;
}

/* strength of the edge between the 4x4 blocks a and b (indices into the block maps) */
static int strength(const uint8_t *intra, const uint8_t *coded, const int16_t (*mv)[2],
		    int a, int b, int mb_a, int mb_b)
{
	if (intra[mb_a] || intra[mb_b])
		return mb_a != mb_b ? 4 : 3;
	if (coded[a] || coded[b])
		return 2;
	return ABS(mv[a][0] - mv[b][0]) >= 4 || ABS(mv[a][1] - mv[b][1]) >= 4;
}

unsigned deblock_picture(uint8_t luma[ROWS * STRIDE], const uint8_t intra[MBW * MBH],
			 const uint8_t qp[MBW * MBH], const uint8_t coded[B4W * B4H],
			 const int16_t mv[B4W * B4H][2], int offset)
{
	unsigned touched = 0;
	int mb, dir, k, x, y;

	for (mb = 0; mb < MBW * MBH; mb++) {
		const int mx = mb % MBW, my = mb / MBW;

		for (dir = 0; dir < 2; dir++) {		/* vertical edges first */
			for (k = 0; k < 16; k++) {
				int here, there, mb2 = mb;
				struct edge e;

				x = 4 * mx + (dir ? k & 3 : k >> 2);
				y = 4 * my + (dir ? k >> 2 : k & 3);
				if ((dir ? y : x) == 0)
					continue;	/* border of the picture */
				here = y * B4W + x;
				there = dir ? here - B4W : here - 1;
				if (k < 4)
					mb2 = dir ? mb - MBW : mb - 1;
				e.bs = strength(intra, coded, mv, there, here, mb2, mb);
				e.idx = (((qp[mb] + qp[mb2] + 1) >> 1) + offset) >> 2;
				e.idx = CLIP3(0, 13, e.idx);
				touched += filter_edge(luma + (ptrdiff_t)4 * y * STRIDE + 4 * x,
						       dir ? STRIDE : 1, dir ? 1 : STRIDE, e);
			}
		}
	}
	return touched;
}
