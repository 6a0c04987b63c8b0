/* Checks a JSON message that may have been cut off in transit, and adds up
 * the numbers below all keys that begin with a given letter. One pass, no
 * recursion, nothing is copied.
 */
#include <stdint.h>
#include <stdbool.h>

#define MAX_DEPTH 8

enum result { COMPLETE, INCOMPLETE, MALFORMED, TOO_DEEP };
enum expect { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING };

struct level
{
    char brace;     /* '{' or '[' */
    bool counted;   /* numbers in here are summed */
};

struct summary
{
    int64_t  milli_sum;     /* in thousandths, further digits are dropped */
    uint16_t numbers;       /* all of them, counted or not */
    uint16_t strings;       /* values only, not keys */
    uint16_t position;      /* where the scan stopped */
    uint8_t  deepest;
    uint8_t  result;
};

struct text { const char *s; int at, len; };

static int peek(const struct text *t)
{
    return t->at < t->len ? (unsigned char)t->s[t->at] : -1;
}

static bool digit(int c) { return c >= '0' && c <= '9'; }

/* behind the opening quote; false when the text or the string is no good */
static bool skip_string(struct text *t)
{
    int c;
    while ((c = peek(t)) >= ' ') {
        t->at++;
        if (c == '"') return true;
        if (c == '\\' && peek(t) >= 0) t->at++;
    }
    return false;
}

static bool word(struct text *t, const char *w)
{
    while (*w && peek(t) == *w) w++, t->at++;
    return *w == 0;
}

/* integer part below 10^9, otherwise it is refused */
static bool number(struct text *t, int64_t *milli)
{
    int64_t v = 0;
    int weight = 100, digits = 0;
    const bool neg = peek(t) == '-';
    if (neg) t->at++;

    for (; digit(peek(t)); t->at++, digits++)
    {
        if (digits == 9) return false;
        v = 10 * v + (peek(t) - '0');
    }
    if (digits == 0) return false;
    v *= 1000;
    if (peek(t) == '.')
    {
        if (t->at++, !digit(peek(t))) return false;
        for (; digit(peek(t)); t->at++, weight /= 10)
            v += weight * (peek(t) - '0');
    }
    *milli = neg ? -v : v;
    return true;
}

int sum_by_key(const char *message, int length, char initial, struct summary *out)
{
    struct text t = { message, 0, length };
    struct level stack[MAX_DEPTH + 1] = { { 0, false } };
    enum expect expect = VALUE;
    bool wanted = false;        /* the key read last fits */
    int depth = 0, c;
    int64_t milli;

    *out = (struct summary){ .result = MALFORMED };
    while ((c = peek(&t)) >= 0)
    {
        if (c == ' ' || c == '\n') { t.at++; continue; }

        const bool value_due = expect == VALUE || expect == VALUE_OR_END;
        const bool key_due = expect == KEY || expect == KEY_OR_END;
        if ((c == '{' || c == '[') && value_due)
        {
            if (depth == MAX_DEPTH) { out->result = TOO_DEEP; break; }
            const bool inherit = stack[depth].counted || wanted;
            stack[++depth] = (struct level){ (char)c, inherit };
            if (depth > out->deepest) out->deepest = (uint8_t)depth;
            t.at++;
            wanted = false;
            expect = c == '{' ? KEY_OR_END : VALUE_OR_END;
            continue;
        }
        if (depth > 0 && c == (stack[depth].brace == '{' ? '}' : ']')
            && (expect == COMMA_OR_END || expect == KEY_OR_END || expect == VALUE_OR_END))
        {
            t.at++;
            expect = --depth ? COMMA_OR_END : NOTHING;
            continue;
        }
        if (c == ',' && expect == COMMA_OR_END)
        {
            t.at++;
            expect = stack[depth].brace == '{' ? KEY : VALUE;
            continue;
        }
        if (c == ':' && expect == COLON) { t.at++; expect = VALUE; continue; }
        if (c == '"' && key_due)
        {
            t.at++;
            wanted = peek(&t) == initial;
            if (!skip_string(&t)) break;
            expect = COLON;
            continue;
        }
        if (!value_due) break;

        if (c == '"') { t.at++; if (!skip_string(&t)) break; out->strings++; }
        else if (c == 't') { if (!word(&t, "true")) break; }
        else if (c == 'f') { if (!word(&t, "false")) break; }
        else if (c == 'n') { if (!word(&t, "null")) break; }
        else if (number(&t, &milli))
        {
            out->numbers++;
            if (stack[depth].counted || wanted) out->milli_sum += milli;
        }
        else break;
        wanted = false;
        expect = depth ? COMMA_OR_END : NOTHING;
    }

    if (t.at >= length && out->result != TOO_DEEP)
        out->result = expect == NOTHING ? COMPLETE : INCOMPLETE;
    out->position = (uint16_t)t.at;
    return out->result;
}
