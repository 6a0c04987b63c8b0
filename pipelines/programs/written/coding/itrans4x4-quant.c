#include <stdint.h>
#ifndef MBS
#define MBS 2
#endif

/* 4x4 core transform, quantisation with position classes, dequantisation, inverse,
   reconstruction; one luma macroblock = 16 blocks. Returns SSD and the coded block pattern bits. */

static const int quant_tab[6][3] = {
	{13107, 5243, 8066}, {11916, 4660, 7490}, {10082, 4194, 6554},
	{9362, 3647, 5825}, {8192, 3355, 5243}, {7282, 2893, 4559},
};
static const int deq_tab[6][3] = {
	{10, 16, 13}, {11, 18, 14}, {13, 20, 16}, {14, 23, 18}, {16, 25, 20}, {18, 29, 23},
};

#define CLS(i) (((i) & 1) + ((i) >> 2 & 1) == 0 ? 0 : ((i) & 1) && ((i) >> 2 & 1) ? 1 : 2)

static void fwd4(int *b, int s)
{
	int e0 = b[0] + b[3 * s], e1 = b[s] + b[2 * s], d0 = b[0] - b[3 * s], d1 = b[s] - b[2 * s];
	b[0] = e0 + e1;
	b[s] = 2 * d0 + d1;
	b[2 * s] = e0 - e1;
	b[3 * s] = d0 - 2 * d1;
}

static void inv4(int *b, int s)
{
	int a = b[0] + b[2 * s], c = b[0] - b[2 * s];
	int d = (b[s] >> 1) - b[3 * s], e = b[s] + (b[3 * s] >> 1);
	b[0] = a + e;
	b[s] = c + d;
	b[2 * s] = c - d;
	b[3 * s] = a - e;
}

uint32_t mb_transform(const uint8_t *cur, uint8_t *rec, int qp, uint16_t *cbp)
{
	/* cur and rec: MBS macroblocks of 256 bytes, rec holds the prediction on entry */
	const int per = qp / 6, rem = qp % 6, qbits = 15 + per, f = (1 << qbits) / 6;
	uint32_t ssd = 0;

	for (int mb = 0; mb < MBS; mb++, cur += 256, rec += 256) {
		cbp[mb] = 0;
		for (int blk = 0; blk < 16; blk++) {
			int off = (blk >> 2) * 64 + (blk & 3) * 4, c[16], nz = 0;
			for (int i = 0; i < 16; i++) {
				int p = off + (i >> 2) * 16 + (i & 3);
				c[i] = cur[p] - rec[p];
			}
			for (int i = 0; i < 4; i++) fwd4(c + 4 * i, 1);
			for (int i = 0; i < 4; i++) fwd4(c + i, 4);
			for (int i = 0; i < 16; i++) {
				int k = CLS(i), neg = c[i] < 0;
				int q = (int)(((int64_t)(neg ? -c[i] : c[i]) * quant_tab[rem][k] + f) >> qbits);
				nz += q != 0;
				c[i] = (neg ? -q : q) * deq_tab[rem][k] * (1 << per);
			}
			if (nz) {
				cbp[mb] |= (uint16_t)(1u << blk);
				for (int i = 0; i < 4; i++) inv4(c + 4 * i, 1);
				for (int i = 0; i < 4; i++) inv4(c + i, 4);
			}
			for (int i = 0; i < 16; i++) {
				int p = off + (i >> 2) * 16 + (i & 3);
				int v = rec[p] + (nz ? (c[i] + 32) >> 6 : 0);
				rec[p] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
				int d = cur[p] - rec[p];
				ssd += (uint32_t)(d * d);
			}
		}
	}
	return ssd;
}
