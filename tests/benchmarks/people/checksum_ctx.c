#include <stdint.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    uint32_t a, b;
    uint64_t length;
    uint8_t tail[4];
} checksum_ctx;

static void init(checksum_ctx *ctx)
{
    memset(ctx, 0, sizeof(*ctx));
    ctx->a = 1;
}

static void update(checksum_ctx *ctx, const void *data, size_t n)
{
    const uint8_t *p = (const uint8_t *)data;
    const uint8_t *end = p + n;
    ctx->length += n;
    while (p != end) {
        ctx->a = (ctx->a + *p) % 65521;
        ctx->b = (ctx->b + ctx->a) % 65521;
        ctx->tail[ctx->length & 3] ^= *p++;
    }
}

static uint32_t final(const checksum_ctx *ctx)
{
    return (ctx->b << 16 | ctx->a) ^ ctx->tail[0] ^ (uint32_t)ctx->length;
}

uint32_t checksum(const uint8_t message[100], size_t n)
{
    checksum_ctx ctx;
    init(&ctx);
    if (n > 100)
        n = 100;
    update(&ctx, message, n / 2);
    update(&ctx, message + n / 2, n - n / 2);
    return final(&ctx);
}
