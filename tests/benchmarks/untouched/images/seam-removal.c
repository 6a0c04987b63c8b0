#include <string.h>

#ifndef ROWS
#define ROWS 20
#endif
#ifndef COLS
#define COLS 32
#endif
#ifndef SEAMS
#define SEAMS 4		/* < COLS - 2 */
#endif

typedef unsigned char  pix;
typedef unsigned int   uint;

static uint energy[ROWS][COLS], best[ROWS][COLS];
static signed char step[ROWS][COLS];

static uint absdiff(pix a, pix b) { return a < b ? (uint)(b - a) : (uint)(a - b); }

static void
compute_energy(pix img[][COLS], int cols)
{
	for (int r = 0; r < ROWS; r++) {
		const pix *here = img[r];
		const pix *up = img[r ? r - 1 : 0];
		const pix *down = img[r < ROWS - 1 ? r + 1 : r];
		for (int c = 0; c < cols; c++) {
			int lt = c ? c - 1 : 0, rt = c < cols - 1 ? c + 1 : c;
			energy[r][c] = absdiff(here[lt], here[rt]) + absdiff(up[c], down[c]);
		}
	}
}

/* dynamic program from the top row down; end of the cheapest seam */
static int
cheapest(int cols)
{
	int r, c, end = 0;

	memcpy(best[0], energy[0], sizeof best[0]);
	for (r = 1; r < ROWS; r++)
		for (c = 0; c < cols; c++) {
			uint m = best[r - 1][c];
			signed char s = 0;
			if (c > 0 && best[r - 1][c - 1] < m) {
				m = best[r - 1][c - 1];
				s = -1;
			}
			if (c + 1 < cols && best[r - 1][c + 1] < m) {
				m = best[r - 1][c + 1];
				s = 1;
			}
			best[r][c] = m + energy[r][c];
			step[r][c] = s;
		}
	for (c = 1; c < cols; c++)
		if (best[ROWS - 1][c] < best[ROWS - 1][end])
			end = c;
	return end;
}

/* Makes the picture SEAMS columns narrower. Freed columns turn black, path[]
   has the removed column of every row in the coordinates of that round. */
uint
narrow(pix img[ROWS][COLS], short path[SEAMS][ROWS])
{
	uint lost = 0;
	int cols = COLS;

	for (int s = 0; s < SEAMS; s++, cols--) {
		compute_energy(img, cols);
		int c = cheapest(cols);
		lost += best[ROWS - 1][c];
		for (int r = ROWS - 1; r >= 0; r--) {
			path[s][r] = (short)c;
			int d = r ? step[r][c] : 0;
			memmove(&img[r][c], &img[r][c + 1], (size_t)(cols - 1 - c));
			img[r][cols - 1] = 0;
			c += d;
		}
	}
	return lost;
}
