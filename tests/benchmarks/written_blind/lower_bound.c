static const unsigned short thresholds[32] = {
    3,   17,  29,  45,  58,  77,  93,  120, 141, 166, 190, 215, 247, 280, 311, 350,
    392, 430, 471, 515, 560, 602, 655, 700, 744, 791, 830, 872, 901, 940, 971, 999};

/* Class of each reading by binary search in a table. */
#pragma simfoundry range reading=0:1024
void lower_bound(const unsigned short reading[60], unsigned char cls[60])
{
    for (int i = 0; i < 60; i++) {
        int lo = 0, hi = 32;
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (thresholds[mid] < reading[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        cls[i] = (unsigned char)lo;
    }
}
