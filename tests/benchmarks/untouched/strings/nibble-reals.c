#include <stdint.h>

#ifndef OCTETS
#define OCTETS 240
#endif

/* Decimal numbers packed two characters to a byte, high half first, as font
 * programs store them:
 *   0-9 digit   a point   b E   c E-   d reserved   e minus   f end
 * A number ends at the next byte after its f.
 */
struct real {
	int64_t  mantissa;	/* at most 15 digits, further ones are cut off */
	int16_t  exponent;	/* of ten */
	uint16_t start;		/* byte at which it starts */
	int32_t  q16;		/* rounded to 1/65536, limited to the range */
	uint8_t  bad;		/* not a number, see enum */
};

enum { GOOD, NO_DIGITS, TWO_POINTS, TWO_EXPONENTS, STRAY_MINUS, RESERVED, CUT_OFF };

static int32_t to_q16(int64_t m, int e)
{
	uint64_t v;
	int neg = m < 0;

	v = (uint64_t)(neg ? -m : m);
	if (v == 0)
		return 0;
	/* integer part may have five digits at most, so stop growing early */
	while (e > 0 && v < 100000) {
		v *= 10;
		e--;
	}
	if (e > 0)
		goto limit;
	while (e < 0 && v >= 100000000000000u) {
		v /= 10;
		e++;
	}
	if (e < -20)
		return 0;
	if (e == 0 && v > 32767)
		goto limit;
	v <<= 17;				/* one more bit to round with */
	for (; e < 0; e++)
		v /= 10;
	v = (v + 1) >> 1;
	if (v > INT32_MAX)
		goto limit;
	return neg ? -(int32_t)v : (int32_t)v;
limit:
	return neg ? INT32_MIN : INT32_MAX;
}

int decode_reals(const uint8_t *data, struct real *out)
{
	int pos = 0;			/* in halves of bytes */
	int n = 0;

	while (pos < 2 * OCTETS) {
		int64_t m = 0;
		int digits = 0, scale = 0, exp = 0;
		int seen_point = 0, seen_exp = 0, first = 1;
		int neg = 0, bad = GOOD, closed = 0;

		out[n].start = (uint16_t)(pos / 2);
		while (pos < 2 * OCTETS && !closed) {
			unsigned h = data[pos >> 1] >> (pos & 1 ? 0 : 4) & 15;
			pos++;
			switch (h) {
			case 0xa:
				if (seen_point || seen_exp)
					bad = TWO_POINTS;
				seen_point = 1;
				break;
			case 0xb:
			case 0xc:
				if (seen_exp)
					bad = TWO_EXPONENTS;
				seen_exp = h == 0xb ? 1 : -1;
				break;
			case 0xd:
				bad = RESERVED;
				break;
			case 0xe:
				if (!first)
					bad = STRAY_MINUS;
				neg = 1;
				break;
			case 0xf:
				closed = 1;
				break;
			default:
				if (seen_exp) {
					if (exp < 1000)
						exp = 10 * exp + (int)h;
				} else {
					if (m < 100000000000000) {
						m = 10 * m + h;
						scale -= seen_point;
					} else
						scale += !seen_point;
					digits++;
				}
			}
			first = 0;
		}
		pos = (pos + 1) & ~1;

		if (!closed)
			bad = CUT_OFF;
		else if (bad == GOOD && digits == 0)
			bad = NO_DIGITS;
		out[n].bad = (uint8_t)bad;
		if (bad != GOOD) {
			out[n].mantissa = 0;
			out[n].exponent = 0;
		} else {
			out[n].mantissa = neg ? -m : m;
			out[n].exponent = (int16_t)(scale + seen_exp * exp);
		}
		out[n].q16 = to_q16(out[n].mantissa, out[n].exponent);
		n++;
	}
	return n;
}
