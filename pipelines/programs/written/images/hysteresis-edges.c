#include <stdint.h>
#ifndef W
#define W 40
#endif
#ifndef H
#define H 30
#endif

// Gradient, non maximum suppression, hysteresis with an explicit stack.
// edge: 0 none, 1 weak, 255 strong or connected to strong

static int mag[H][W];
static uint8_t dir[H][W];
static uint16_t stack[W * H];

unsigned edges_hysteresis(const uint8_t img[H][W], uint8_t edge[H][W], int lo, int hi)
{
	static const int8_t nx[4] = {1, 1, 0, -1}, ny[4] = {0, 1, 1, 1};
	unsigned count = 0, sp = 0;

	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			edge[y][x] = 0;
			mag[y][x] = 0;
			if (x == 0 || y == 0 || x == W - 1 || y == H - 1)
				continue;
			int gx = img[y-1][x+1] + 2*img[y][x+1] + img[y+1][x+1]
			       - img[y-1][x-1] - 2*img[y][x-1] - img[y+1][x-1];
			int gy = img[y+1][x-1] + 2*img[y+1][x] + img[y+1][x+1]
			       - img[y-1][x-1] - 2*img[y-1][x] - img[y-1][x+1];
			int ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
			mag[y][x] = ax + ay;
			/* tan 22.5 ~ 53/128 */
			if (128 * ay < 53 * ax)      dir[y][x] = 0;
			else if (128 * ax < 53 * ay) dir[y][x] = 2;
			else                         dir[y][x] = (gx ^ gy) >= 0 ? 1 : 3;
		}

	for (int y = 1; y < H - 1; y++)
		for (int x = 1; x < W - 1; x++) {
			int m = mag[y][x], d = dir[y][x];
			if (m < lo) continue;
			if (m < mag[y + ny[d]][x + nx[d]] || m <= mag[y - ny[d]][x - nx[d]])
				continue;
			if (m >= hi) {
				edge[y][x] = 255;
				stack[sp++] = (uint16_t)(y * W + x);
			} else
				edge[y][x] = 1;
		}

	while (sp) {
		unsigned p = stack[--sp];
		int y = (int)(p / W), x = (int)(p % W);
		count++;
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++)
				if (edge[y + dy][x + dx] == 1) {
					edge[y + dy][x + dx] = 255;
					stack[sp++] = (uint16_t)((y + dy) * W + x + dx);
				}
	}
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			if (edge[y][x] == 1) edge[y][x] = 0;
	return count;
}
