#include <stdint.h>
#include <stddef.h>
#include <string.h>

#ifndef TOKENS
#define TOKENS 300
#endif
#ifndef OUTCAP
#define OUTCAP 8000
#endif

/* Fragments of JSON arrive as codes; the text is assembled, balanced and indented.
 * What does not fit where it stands is left out and counted. */

static const char *const fragment[16] = {
    "{", "[", "}", "]", "\"id\"", "\"name\"", "\"a\\\"b\"", "0",
    "-17", "3.25e4", "true", "false", "null", "\"\"", "[", "}"
};

enum ctx { IN_OBJ_KEY, IN_OBJ_VALUE, IN_ARRAY, TOP };

#define MAXNEST 12

typedef struct {
    char  *out;
    size_t len;
    uint8_t stack[MAXNEST];
    uint8_t filled[MAXNEST];        /* members so far */
    int     depth;
} writer_t;

static void emit(writer_t *w, const char *s)
{
    size_t n = strlen(s);
    if (w->len + n > OUTCAP) n = OUTCAP - w->len;
    memcpy(w->out + w->len, s, n);
    w->len += n;
}

static void newline(writer_t *w, int depth)
{
    emit(w, "\n");
    for (int i = 0; i < depth; i++) emit(w, "  ");
}

static void before_item(writer_t *w)
{
    if (w->depth == 0) { if (w->len) emit(w, "\n"); return; }
    if (w->filled[w->depth - 1]) emit(w, ",");
    w->filled[w->depth - 1] = 1;
    newline(w, w->depth);
}

static void after_value(writer_t *w)
{
    if (w->depth && w->stack[w->depth - 1] == IN_OBJ_VALUE)
        w->stack[w->depth - 1] = IN_OBJ_KEY;
}

static int close_one(writer_t *w)
{
    int top = w->stack[w->depth - 1];
    if (top == IN_OBJ_VALUE) emit(w, "null");
    w->depth--;
    if (w->filled[w->depth]) newline(w, w->depth);
    emit(w, top == IN_ARRAY ? "]" : "}");
    after_value(w);
    return top;
}

int json_reindent(const uint8_t *code, char *out, size_t *length)
{
    writer_t w = { out, 0, {0}, {0}, 0 };
    int dropped = 0;

    for (size_t i = 0; i < TOKENS; i++) {
        const char *f = fragment[code[i] & 15];
        int ctx = w.depth ? w.stack[w.depth - 1] : TOP;
        switch (*f) {
        case '{': case '[':
            if (ctx == IN_OBJ_KEY || w.depth == MAXNEST) { dropped++; continue; }
            if (ctx != IN_OBJ_VALUE) before_item(&w);
            emit(&w, f);
            w.filled[w.depth] = 0;
            w.stack[w.depth++] = *f == '{' ? IN_OBJ_KEY : IN_ARRAY;
            break;
        case '}': case ']':
            if (ctx == TOP || (ctx == IN_ARRAY) != (*f == ']')) { dropped++; continue; }
            close_one(&w);
            break;
        case '"':
            if (ctx == IN_OBJ_KEY) {
                before_item(&w);
                emit(&w, f);
                emit(&w, ": ");
                w.stack[w.depth - 1] = IN_OBJ_VALUE;
                break;
            }
            /* fall through */
        default:
            if (ctx == IN_OBJ_KEY) { dropped++; continue; }
            if (ctx != IN_OBJ_VALUE) before_item(&w);
            emit(&w, f);
            after_value(&w);
        }
    }
    while (w.depth) close_one(&w);
    *length = w.len;
    return dropped;
}
