/*
 * Splits delimiter separated values into fields.
 *
 *   - fields end with ',' and records end with '+' (the logger has no line
 *     feeds in its alphabet)
 *   - a field that starts with '"' may hold delimiters; "" stands for "
 *   - blanks around an unquoted field are dropped
 *
 * The text of the fields is packed into one pool without terminators.
 */
#include <stddef.h>

#ifndef CHARS
#define CHARS 512
#endif
#ifndef MAX_FIELDS
#define MAX_FIELDS 100
#endif

typedef enum { AT_START, PLAIN, QUOTED, QUOTE_IN_QUOTED, SKIP_TO_END } State;

struct Field {
    unsigned short offset;
    unsigned short length;
    unsigned short record;
    unsigned char  quoted;
    unsigned char  malformed;
};

int split_fields(const char *input, char *pool, struct Field *field, int *records)
{
    State state = AT_START;
    size_t used = 0, keep = 0;      /* keep: pool without trailing blanks */
    int n = 0, record = 0;
    struct Field now = { 0, 0, 0, 0, 0 };

    for (size_t i = 0; i <= CHARS; i++) {
        /* the end of the text ends field and record */
        const char c = i < CHARS ? input[i] : '+';
        const int at_end = i == CHARS;
        int finished = 0;

        switch (state) {
        case AT_START:
            if (c == ' ')
                break;
            if (c == '"') {
                now.quoted = 1;
                state = QUOTED;
                break;
            }
            state = PLAIN;
            /* fall through */
        case PLAIN:
            if (c == ',' || c == '+') {
                used = keep;
                finished = 1;
            } else {
                if (c == '"')
                    now.malformed = 1;
                pool[used++] = c;
                if (c != ' ')
                    keep = used;
            }
            break;
        case QUOTED:
            if (at_end) {
                now.malformed = 1;          /* never closed */
                finished = 1;
            } else if (c == '"') {
                state = QUOTE_IN_QUOTED;
            } else {
                pool[used++] = c;
            }
            break;
        case QUOTE_IN_QUOTED:
            if (c == '"') {
                pool[used++] = c;
                state = QUOTED;
                break;
            }
            state = SKIP_TO_END;
            /* fall through */
        case SKIP_TO_END:
            if (c == ',' || c == '+')
                finished = 1;
            else if (c != ' ')
                now.malformed = 1;
            break;
        }

        if (!finished)
            continue;
        if (n == MAX_FIELDS) {
            *records = record;
            return -1;
        }
        now.length = (unsigned short)(used - now.offset);
        now.record = (unsigned short)record;
        field[n++] = now;
        keep = used;
        now.offset = (unsigned short)used;
        now.quoted = now.malformed = 0;
        if (c == '+')
            record++;
        state = AT_START;
    }

    *records = record;
    return n;
}
