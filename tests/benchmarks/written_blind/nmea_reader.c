#include <stdint.h>
/* Reads sentences "$12.5,-3*hh" from a serial buffer: two numbers and a checksum in hex.
   A character out of place drops the sentence. */

enum { IDLE, NUMBER, FRACTION, SUM_HIGH, SUM_LOW };

typedef struct {
    int whole;
    int tenths;
    int negative;
    int digits;
} number;

static int state;
static uint8_t check;
static number current;
static int values[2];
static int which;
static int expected;

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void clear_number(void)
{
    current.whole = 0;
    current.tenths = 0;
    current.negative = 0;
    current.digits = 0;
}

static void keep_number(void)
{
    int v = current.whole * 10 + current.tenths;
    values[which] = current.negative ? -v : v;
    clear_number();
}

/* Takes a character; 1 when a sentence ended well. */
static int take(char c)
{
    if (c == '$') {
        state = NUMBER;
        check = 0;
        which = 0;
        clear_number();
        return 0;
    }
    if (state == NUMBER || state == FRACTION) {
        if (c != '*')
            check ^= (uint8_t)c;
        if (c == ',' && which == 0) {
            keep_number();
            which = 1;
            state = NUMBER;
        } else if (c == '*') {
            keep_number();
            state = SUM_HIGH;
        } else if (c == '.' && state == NUMBER) {
            state = FRACTION;
        } else if (c == '-' && current.digits == 0) {
            current.negative = 1;
        } else if (is_digit(c)) {
            if (state == NUMBER && current.digits < 4) {
                current.whole = current.whole * 10 + (c - '0');
                current.digits++;
            } else if (state == FRACTION && current.tenths == 0) {
                current.tenths = c - '0';
            }
        } else {
            state = IDLE;
        }
        return 0;
    }
    int h = hex_digit(c);
    if (state == SUM_HIGH) {
        expected = h << 4;
        state = h < 0 ? IDLE : SUM_LOW;
    } else if (state == SUM_LOW) {
        state = IDLE;
        return h >= 0 && (expected | h) == check;
    }
    return 0;
}

#pragma simfoundry range serial=36:58
int nmea_reader(const char serial[120], int sum[2])
{
    int good = 0;
    sum[0] = 0;
    sum[1] = 0;
    for (int i = 0; i < 120; i++) {
        if (take(serial[i])) {
            good++;
        }
        if (state == SUM_HIGH) {
            sum[0] += values[0];
            sum[1] += values[1];
        }
    }
    return good;
}
