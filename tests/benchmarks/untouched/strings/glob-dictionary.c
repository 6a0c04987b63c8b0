#ifndef WORDS
#define WORDS 40
#endif

#define WORD_LEN     9       /* eight letters and a zero, shorter is padded */
#define GLOBS        6
#define GLOB_LEN     12

typedef const char *cstr;

/* one character against "[...]"; *p stands on the '[' and is left on the ']'.
   "[^" turns the set round, a-c is a range. A set that is never closed
   matches nothing and leaves *p on the last character. */
static int in_set(cstr *p, char c)
{
	cstr s = *p + 1;
	int negate = 0, hit = 0;

	if (*s == '^') {
		negate = 1;
		s++;
	}
	while (*s && *s != ']') {
		if (s[1] == '-' && s[2] && s[2] != ']') {
			if (c >= s[0] && c <= s[2])
				hit = 1;
			s += 3;
		} else {
			if (c == *s)
				hit = 1;
			s++;
		}
	}
	if (!*s) {
		*p = s - 1;
		return 0;
	}
	*p = s;
	return hit != negate;
}

/* shell style pattern; only the last star is ever tried again */
static int glob(cstr p, cstr s, unsigned *steps)
{
	cstr star = 0, resume = 0;

	while (*s) {
		++*steps;
		if (*p == '*') {
			star = ++p;
			resume = s;
			continue;
		}
		if (*p == '?') {
			p++; s++;
			continue;
		}
		if (*p == '[') {
			cstr q = p;
			if (in_set(&q, *s)) {
				p = q + 1;
				s++;
				continue;
			}
		} else if (*p && *p == *s) {
			p++; s++;
			continue;
		}
		if (!star)
			return 0;
		p = star;
		s = ++resume;
	}
	while (*p == '*')
		p++;
	return *p == 0;
}

/* Bit g of match[w] is set when pattern g fits word w.
   Letters outside 'a'..'e' end a word early. Returns the steps taken. */
unsigned glob_words(const char *globs, const char *letters, unsigned char *match)
{
	char word[WORD_LEN];
	unsigned steps = 0;
	int w, g, i;

	for (w = 0; w < WORDS; w++) {
		for (i = 0; i < WORD_LEN - 1; i++) {
			char c = letters[w * (WORD_LEN - 1) + i];
			if (c < 'a' || c > 'e')
				break;
			word[i] = c;
		}
		word[i] = '\0';

		match[w] = 0;
		for (g = 0; g < GLOBS; g++)
			if (glob(globs + g * GLOB_LEN, word, &steps))
				match[w] |= (unsigned char)(1 << g);
	}
	return steps;
}
