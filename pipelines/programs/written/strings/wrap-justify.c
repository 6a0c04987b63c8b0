#include <stddef.h>
#ifndef LETTERS
#define LETTERS 500
#endif
#ifndef COLS
#define COLS 36
#endif

/* Paragraph filling with least raggedness (cubes of the rest, last line free),
   then justified to COLS. Anything but a-z divides words; longer words are cut. */
#define MAXW   ((LETTERS + 1) / 2 + 1)
#define MAXLEN 14

size_t fill_paragraph(const char *raw, char *page, size_t lines_max)
{
	const char *word[MAXW];
	size_t len[MAXW], next[MAXW + 1], n = 0, i = 0;
	unsigned long cost[MAXW + 1];

	while (i < LETTERS) {
		while (i < LETTERS && (raw[i] < 'a' || raw[i] > 'z')) i++;
		size_t from = i;
		while (i < LETTERS && raw[i] >= 'a' && raw[i] <= 'z' && i - from < MAXLEN) i++;
		if (i > from && n < MAXW) {
			word[n] = raw + from;
			len[n++] = i - from;
		}
	}

	cost[n] = 0;
	next[n] = n;
	for (size_t k = n; k-- > 0; ) {
		size_t used = 0;
		cost[k] = ~0ul;
		next[k] = k + 1;
		for (size_t j = k; j < n; j++) {
			used += len[j] + (j > k);
			if (used > COLS)
				break;
			unsigned long gap = COLS - used, c;
			c = j + 1 == n ? 0 : gap * gap * gap + cost[j + 1];
			if (c < cost[k]) {
				cost[k] = c;
				next[k] = j + 1;
			}
		}
	}

	size_t line = 0;
	for (size_t k = 0; k < n && line < lines_max; k = next[k], line++) {
		char *p = page + line * COLS, *end = p + COLS;
		size_t words = next[k] - k, chars = 0;
		for (size_t j = k; j < next[k]; j++)
			chars += len[j];
		size_t blanks = COLS - chars, gaps = words - 1;
		int last = next[k] == n;
		for (size_t j = k; j < next[k]; j++) {
			for (size_t c = 0; c < len[j]; c++)
				*p++ = word[j][c];
			if (j + 1 < next[k]) {
				/* spread: alternate the side of the wide gaps from line to line */
				size_t g = j - k, pos = line & 1 ? gaps - 1 - g : g;
				size_t w = last ? 1 : blanks / gaps + (pos < blanks % gaps);
				while (w--)
					*p++ = ' ';
			}
		}
		while (p < end)
			*p++ = ' ';
	}
	return line;
}
