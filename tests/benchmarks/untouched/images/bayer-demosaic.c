/* RGGB sensor data (10 bit) to 24 bit RGB.
 *
 * 1. green plane: interpolate along the direction with the smaller gradient
 * 2. red / blue: bilinear interpolation of the difference to green
 * 3. black level, white balance, clip to 8 bit
 */
#include <stdint.h>

#ifndef COLS
#define COLS 24		/* even, >= 4 */
#endif
#ifndef ROWS
#define ROWS 16		/* even, >= 4 */
#endif

struct rgb {
	uint8_t r, g, b;
};

static int green[ROWS][COLS];

/* Mirror without repeating the edge: keeps the colour of the mosaic. */
static int mirror(int i, int n)
{
	if (i < 0)
		return -i;
	if (i >= n)
		return 2 * n - 2 - i;
	return i;
}

static int dist(int a, int b)
{
	return a > b ? a - b : b - a;
}

static int clamp(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static int green_at(const uint16_t raw[ROWS][COLS], int y, int x)
{
	int n = mirror(y - 1, ROWS), s = mirror(y + 1, ROWS);
	int w = mirror(x - 1, COLS), e = mirror(x + 1, COLS);
	int c2 = 2 * raw[y][x];
	int lh = c2 - raw[y][mirror(x - 2, COLS)] - raw[y][mirror(x + 2, COLS)];
	int lv = c2 - raw[mirror(y - 2, ROWS)][x] - raw[mirror(y + 2, ROWS)][x];
	int gh = 2 * (raw[y][w] + raw[y][e]) + lh;
	int gv = 2 * (raw[n][x] + raw[s][x]) + lv;
	int dh = dist(raw[y][w], raw[y][e]) + (lh < 0 ? -lh : lh);
	int dv = dist(raw[n][x], raw[s][x]) + (lv < 0 ? -lv : lv);
	int g;

	if (dh < dv)
		g = gh / 4;
	else if (dv < dh)
		g = gv / 4;
	else
		g = (gh + gv) / 8;
	return clamp(g, 0, 1023);
}

/* colour difference (raw - green) at a red or blue site */
#define CD(yy, xx) \
	(raw[mirror((yy), ROWS)][mirror((xx), COLS)] - green[mirror((yy), ROWS)][mirror((xx), COLS)])

static uint8_t finish(int v, int black, unsigned gain)
{
	unsigned u = (unsigned)clamp(v - black, 0, 1023) * gain;

	u = (u + (1u << 9)) >> 10;	/* Q8 gain, 10 -> 8 bit */
	return u > 255 ? 255 : (uint8_t)u;
}

void demosaic_rggb(const uint16_t raw[ROWS][COLS], struct rgb out[ROWS][COLS],
		   int black, unsigned gain_r, unsigned gain_g, unsigned gain_b)
{
	int y, x;

	for (y = 0; y < ROWS; y++)
		for (x = 0; x < COLS; x++)
			green[y][x] = ((x ^ y) & 1) ? raw[y][x] : green_at(raw, y, x);

	for (y = 0; y < ROWS; y++) {
		for (x = 0; x < COLS; x++) {
			int g = green[y][x];
			int hor = (CD(y, x - 1) + CD(y, x + 1)) / 2;
			int ver = (CD(y - 1, x) + CD(y + 1, x)) / 2;
			int dia = (CD(y - 1, x - 1) + CD(y - 1, x + 1) +
				   CD(y + 1, x - 1) + CD(y + 1, x + 1)) / 4;
			int r, b;

			switch ((y & 1) << 1 | (x & 1)) {
			case 0:		/* red site */
				r = raw[y][x];
				b = g + dia;
				break;
			case 1:		/* green between reds */
				r = g + hor;
				b = g + ver;
				break;
			case 2:		/* green between blues */
				r = g + ver;
				b = g + hor;
				break;
			default:	/* blue site */
				r = g + dia;
				b = raw[y][x];
				break;
			}
			out[y][x].r = finish(r, black, gain_r);
			out[y][x].g = finish(g, black, gain_g);
			out[y][x].b = finish(b, black, gain_b);
		}
	}
}
