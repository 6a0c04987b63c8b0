/* skeleton of a binary image, two sub-iterations, until nothing changes.
   border pixels must be background; we clear them. */
#ifndef ROWS
#define ROWS 28
#endif
#ifndef COLS
#define COLS 28
#endif

typedef unsigned char byte;

static int neighbours(byte im[ROWS][COLS], int r, int c)
{
	/* bit 0 = north, clockwise */
	return im[r-1][c] | im[r-1][c+1] << 1 | im[r][c+1] << 2 | im[r+1][c+1] << 3
	     | im[r+1][c] << 4 | im[r+1][c-1] << 5 | im[r][c-1] << 6 | im[r-1][c-1] << 7;
}

static int deletable(int n, int second)
{
	int ones = 0, trans = 0, i;

	for (i = 0; i < 8; i++) {
		int a = n >> i & 1, b = n >> ((i + 1) & 7) & 1;
		ones += a;
		trans += !a && b;
	}
	if (ones < 2 || ones > 6 || trans != 1)
		return 0;
	/* N=1 E=4 S=16 W=64 */
	if (!second)
		return (n & 21) != 21 && (n & 84) != 84;
	return (n & 69) != 69 && (n & 81) != 81;
}

int thin(const byte gray[ROWS][COLS], byte im[ROWS][COLS], byte level)
{
	static byte mark[ROWS][COLS];
	int r, c, pass = 0, changed;

	for (r = 0; r < ROWS; r++)
		for (c = 0; c < COLS; c++)
			im[r][c] = r > 0 && c > 0 && r < ROWS - 1 && c < COLS - 1 && gray[r][c] >= level;

	do {
		changed = 0;
		for (int sub = 0; sub < 2; sub++) {
			for (r = 1; r < ROWS - 1; r++)
				for (c = 1; c < COLS - 1; c++)
					mark[r][c] = im[r][c] && deletable(neighbours(im, r, c), sub);
			for (r = 1; r < ROWS - 1; r++)
				for (c = 1; c < COLS - 1; c++)
					if (mark[r][c]) {
						im[r][c] = 0;
						changed = 1;
					}
		}
		pass++;
	} while (changed);
	return pass;
}
