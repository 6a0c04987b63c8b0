#include <stdio.h>

#ifndef SIZE
#define SIZE 1500
#endif
#ifndef MAX_CODE_BITS
#define MAX_CODE_BITS 9
#endif

#define ROOTS    16
#define CLEAR    ROOTS
#define FIRST    (ROOTS + 1)
#define CODES    (1 << MAX_CODE_BITS)

typedef short code;

/* the dictionary is a tree: child list of every code, linked as siblings */
static code child[CODES], sibling[CODES];
static unsigned char letter[CODES];

static unsigned char *out_ptr;
static unsigned long pending;
static int npending;

static void write_code(int c, int width)
{
    pending |= (unsigned long)c << npending;
    npending += width;
    while (npending >= 8)
    {
        *out_ptr++ = (unsigned char)pending;
        pending >>= 8;
        npending -= 8;
    }
}

static void reset(void)
{
    int i;
    for (i = 0; i < CODES; i++)
        child[i] = sibling[i] = -1;
}

/* LZW with growing code width; when the dictionary is full a CLEAR is sent and
   everything begins anew. Letters are 0 .. ROOTS-1. Returns the bytes written. */
int lzw_codes(const unsigned char *data, unsigned char *packed, int *resets)
{
    int width = 5, next = FIRST, prefix, i;

    out_ptr = packed;
    pending = 0;
    npending = 0;
    *resets = 0;
    reset();

    prefix = data[0];
    for (i = 1; i < SIZE; i++)
    {
        code c = child[prefix];
        while (c >= 0 && letter[c] != data[i])
            c = sibling[c];
        if (c >= 0)
        {
            prefix = c;
            continue;
        }

        write_code(prefix, width);
        if (next == CODES)
        {
            write_code(CLEAR, width);
            reset();
            width = 5;
            next = FIRST;
            ++*resets;
        }
        else
        {
            letter[next] = data[i];
            sibling[next] = child[prefix];
            child[prefix] = (code)next;
            if (next == 1 << width)
                width++;
            next++;
        }
        prefix = data[i];
    }
    write_code(prefix, width);
    if (npending > 0)
        *out_ptr++ = (unsigned char)pending;
    return (int)(out_ptr - packed);
}

int main(void)
{
    static unsigned char in[SIZE], out[2 * SIZE];
    int i, resets;
    for (i = 0; i < SIZE; i++)
        in[i] = (unsigned char)(i * i / 7 % 5);
    i = lzw_codes(in, out, &resets);
    printf("%d -> %d, %d resets\n", SIZE, i, resets);
    return 0;
}
