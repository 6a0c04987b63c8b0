/* HDLC-like receiver: splits a byte stream at 0x7E flags, removes the 0x7D
   escapes and computes the CRC-32 of every frame, four bytes per step. */
#include <stdio.h>

#ifndef STREAM
#define STREAM 1200
#endif
#ifndef MAX_FRAMES
#define MAX_FRAMES 80
#endif
#ifndef MAX_LEN
#define MAX_LEN 64
#endif

#define FLAG 0x7E
#define ESC  0x7D
#define MIN_LEN 4

static unsigned int crc_tab[4][256];
static unsigned char frame[MAX_LEN];

static void crc_setup(void) {
	unsigned int i, k, c;
	for (i = 0; i < 256; i++) {
		c = i;
		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		crc_tab[0][i] = c;
	}
	for (k = 1; k < 4; k++)
		for (i = 0; i < 256; i++) {
			c = crc_tab[k - 1][i];
			crc_tab[k][i] = c >> 8 ^ crc_tab[0][c & 0xFF];
		}
}

static unsigned int crc_frame(const unsigned char *p, int n) {
	unsigned int c = 0xFFFFFFFFu;
	while (n >= 4) {
		c ^= p[0] | p[1] << 8 | p[2] << 16 | (unsigned int)p[3] << 24;
		c = crc_tab[3][c & 0xFF] ^ crc_tab[2][c >> 8 & 0xFF]
		  ^ crc_tab[1][c >> 16 & 0xFF] ^ crc_tab[0][c >> 24];
		p += 4;
		n -= 4;
	}
	while (n-- > 0)
		c = c >> 8 ^ crc_tab[0][(c ^ *p++) & 0xFF];
	return ~c;
}

/* err[0] runts, err[1] aborts (escape before flag), err[2] too long */
int hdlc_crc32(const unsigned char *stream, unsigned int *crc, int *length, int *err) {
	enum { HUNT, DATA, ESCAPED, SKIP } st = HUNT;
	int frames = 0, n = 0, i;

	err[0] = err[1] = err[2] = 0;
	crc_setup();
	for (i = 0; i < STREAM; i++) {
		unsigned char b = stream[i];
		if (b == FLAG) {
			if (st == ESCAPED) {
				err[1]++;
			} else if (st == DATA && n >= MIN_LEN) {
				if (frames == MAX_FRAMES)
					break;
				crc[frames] = crc_frame(frame, n);
				length[frames++] = n;
			} else if (st == DATA && n > 0) {
				err[0]++;
			}
			st = DATA;
			n = 0;
			continue;
		}
		switch (st) {
		case HUNT:
		case SKIP:
			break;
		case DATA:
			if (b == ESC) {
				st = ESCAPED;
				break;
			}
			/* fall through */
		case ESCAPED:
			if (n == MAX_LEN) {
				err[2]++;
				st = SKIP;
				break;
			}
			frame[n++] = st == ESCAPED ? b ^ 0x20 : b;
			st = DATA;
			break;
		}
	}
	return frames;
}

int main(void) {
	static unsigned char s[STREAM] = "\x7E" "123456789" "\x7E";
	unsigned int crc[MAX_FRAMES];
	int len[MAX_FRAMES], err[3];
	int n = hdlc_crc32(s, crc, len, err);
	printf("%d frame(s), first %08X\n", n, n ? crc[0] : 0);
	return 0;
}
