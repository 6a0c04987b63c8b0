#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static bool leap(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

static const int days_in[2][12] = {
    {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
    {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
};

long days_since_epoch(int year, int month, int day)
{
    struct tm t = {0};
    t.tm_year = year - 1900;
    t.tm_mon = month - 1;
    t.tm_mday = day;
    if (t.tm_mon < 0 || t.tm_mon > 11 || t.tm_year < 70 || t.tm_year > 300)
        return -1;
    time_t days = 0;
    for (int y = 1970; y < t.tm_year + 1900; y++)
        days += leap(y) ? 366 : 365;
    for (int m = 0; m < t.tm_mon; m++)
        days += days_in[leap(year)][m];
    return days + t.tm_mday - 1;
}

int main(void)
{
    printf("%ld\n", days_since_epoch(2024, 2, 29));
    return 0;
}
