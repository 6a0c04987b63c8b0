/* Length of the longest increasing subsequence, patience sorting with binary search. */
int longest_increasing(const short x[64])
{
    short tail[64];
    int n = 0;
    for (int i = 0; i < 64; i++) {
        int lo = 0, hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (tail[mid] < x[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        tail[lo] = x[i];
        if (lo == n)
            n++;
    }
    return n;
}
