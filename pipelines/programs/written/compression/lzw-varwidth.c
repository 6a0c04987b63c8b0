#include <stdint.h>

#ifndef PIXELS
#define PIXELS 1200
#endif
#ifndef MINBITS
#define MINBITS 4
#endif

#define MAX_CODES   1024
#define HASH_SIZE   1543

/* GIF flavour LZW of an indexed image, codes are packed LSB first. */

typedef struct {
	uint8_t *at;
	uint32_t acc;
	int nacc;
} gif_bits;

static struct { int32_t key; int16_t code; } gif_dict[HASH_SIZE];

static void put_code(gif_bits *b, unsigned code, int width)
{
	b->acc |= (uint32_t)code << b->nacc;
	b->nacc += width;
	while (b->nacc >= 8) {
		*b->at++ = (uint8_t)b->acc;
		b->acc >>= 8;
		b->nacc -= 8;
	}
}

static void dict_clear(void)
{
	int i;
	for (i = 0; i < HASH_SIZE; i++)
		gif_dict[i].key = -1;
}

/* slot of the pair, or the free slot where it belongs */
static int dict_probe(int32_t key)
{
	int h = (int)((uint32_t)key * 40503u % HASH_SIZE);
	while (gif_dict[h].key != -1 && gif_dict[h].key != key)
		if (++h == HASH_SIZE)
			h = 0;
	return h;
}

int gif_encode(const uint8_t *pix, uint8_t *out, int *resets)
{
	const unsigned clear = 1u << MINBITS, eoi = clear + 1;
	unsigned next = eoi + 1, prefix;
	int width = MINBITS + 1, i;
	gif_bits b = { out, 0, 0 };

	*resets = 0;
	dict_clear();
	put_code(&b, clear, width);
	prefix = pix[0] & (clear - 1);
	for (i = 1; i < PIXELS; i++) {
		unsigned c = pix[i] & (clear - 1);
		int32_t key = (int32_t)(prefix << 8 | c);
		int s = dict_probe(key);

		if (gif_dict[s].key == key) {
			prefix = (unsigned)gif_dict[s].code;
			continue;
		}
		put_code(&b, prefix, width);
		prefix = c;
		if (next == MAX_CODES) {
			put_code(&b, clear, width);
			dict_clear();
			next = eoi + 1;
			width = MINBITS + 1;
			++*resets;
			continue;
		}
		gif_dict[s].key = key;
		gif_dict[s].code = (int16_t)next;
		if (next == 1u << width)
			width++;
		next++;
	}
	put_code(&b, prefix, width);
	put_code(&b, eoi, width);
	if (b.nacc)
		*b.at++ = (uint8_t)b.acc;
	return (int)(b.at - out);
}
