/* Solutions on an n by n board by bit masks and an own stack; nodes visited by reference. */
#pragma simfoundry range n=4:7
int eight_queens(int n, int *nodes)
{
    unsigned full = (1u << n) - 1;
    unsigned cols[9], d1[9], d2[9], free_at[9];
    int depth = 0, solutions = 0, seen = 0;
    cols[0] = d1[0] = d2[0] = 0;
    free_at[0] = full;
    while (depth >= 0) {
        if (free_at[depth] == 0) {
            depth--;
            continue;
        }
        unsigned bit = free_at[depth] & (0u - free_at[depth]);
        free_at[depth] ^= bit;
        seen++;
        unsigned c = cols[depth] | bit;
        if (c == full) {
            solutions++;
            continue;
        }
        unsigned a = (d1[depth] | bit) << 1, b = (d2[depth] | bit) >> 1;
        depth++;
        cols[depth] = c;
        d1[depth] = a;
        d2[depth] = b;
        free_at[depth] = full & ~(c | a | b);
    }
    *nodes = seen;
    return solutions;
}
