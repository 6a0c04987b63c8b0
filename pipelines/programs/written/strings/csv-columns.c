#include <stdint.h>
#include <stdbool.h>

#ifndef SIZE
#define SIZE 1200
#endif
#ifndef COLUMNS
#define COLUMNS 6
#endif

/* CSV tallies. Records end with ';' , fields with ',' , quotes double inside
   quotes. For each column: number of fields, of quoted ones, width, and the sum of
   those fields that are whole numbers. */

typedef struct csv_column {
    uint32_t fields;
    uint32_t quoted;
    uint32_t max_width;
    uint32_t integers;
    int64_t  sum;
} csv_column;

typedef enum { AT_START, IN_PLAIN, IN_QUOTED, AFTER_QUOTE } csv_state;

static void close_field(csv_column *tab, unsigned col, bool quoted, uint32_t width, bool numeric, bool negative, int64_t value)
{
    csv_column *c = &tab[col < COLUMNS ? col : COLUMNS - 1];
    c->fields++;
    c->quoted += quoted;
    if (width > c->max_width) c->max_width = width;
    if (numeric && width > (negative ? 1u : 0u)) {
        c->integers++;
        c->sum += negative ? -value : value;
    }
}

int csv_tally(const char *buf, csv_column *tab)
{
    csv_state st = AT_START;
    unsigned col = 0;
    int records = 0, malformed = 0;
    uint32_t width = 0;
    bool numeric = true, negative = false, quoted = false;
    int64_t value = 0;

    for (const char *p = buf; p != buf + SIZE; p++) {
        char ch = *p;
        bool sep = false;
        switch (st) {
        case AT_START:
            if (ch == '"') { st = IN_QUOTED; quoted = true; continue; }
            st = IN_PLAIN;
            /* fall through */
        case IN_PLAIN:
            if (ch == ',' || ch == ';') sep = true;
            else if (ch == '"') malformed++;
            break;
        case IN_QUOTED:
            if (ch == '"') { st = AFTER_QUOTE; continue; }
            break;
        case AFTER_QUOTE:
            if (ch == '"') { st = IN_QUOTED; break; }
            if (ch == ',' || ch == ';') { sep = true; break; }
            malformed++;
            st = IN_PLAIN;
            break;
        }
        if (!sep) {
            if (ch >= '0' && ch <= '9' && width < 12) value = value * 10 + (ch - '0');
            else if (ch == '-' && width == 0) negative = true;
            else numeric = false;
            width++;
            continue;
        }
        close_field(tab, col, quoted, width, numeric, negative, value);
        if (ch == ';') { records++; col = 0; } else col++;
        st = AT_START;
        width = 0; value = 0;
        numeric = true; negative = quoted = false;
    }
    return records * 1000 + malformed;
}
