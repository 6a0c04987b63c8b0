/* Peak envelope, fast attack and slow release, in Q8. */
#pragma simfoundry range x=-30000:30000
void envelope_follower(const int x[150], int env[150], int release)
{
    int e = 0;
    for (int i = 0; i < 150; i++) {
        int m = x[i] < 0 ? -x[i] : x[i];
        if (m > e)
            e += (m - e) >> 1;
        else
            e -= (e - m) >> (4 + (release & 3));
        env[i] = e;
    }
}
