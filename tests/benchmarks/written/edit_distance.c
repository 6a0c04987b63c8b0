static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein distance of two words, one row of the table at a time. */
int edit_distance(const unsigned char a[20], const unsigned char b[24])
{
    unsigned char row[25];
    for (int j = 0; j <= 24; j++)
        row[j] = (unsigned char)j;
    for (int i = 1; i <= 20; i++) {
        int diag = row[0];
        row[0] = (unsigned char)i;
        for (int j = 1; j <= 24; j++) {
            int old = row[j];
            int cost = (a[i - 1] & 3) != (b[j - 1] & 3);
            row[j] = (unsigned char)min3(old + 1, row[j - 1] + 1, diag + cost);
            diag = old;
        }
    }
    return row[24];
}
