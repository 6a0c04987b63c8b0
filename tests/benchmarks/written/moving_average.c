#pragma simfoundry range x=-2000:2000
/* Running mean over the last 8 samples, kept with a circular buffer. */
void moving_average(const int x[128], int y[128])
{
    int window[8] = {0};
    int sum = 0, head = 0;

    for (int i = 0; i < 128; i++) {
        sum -= window[head];
        window[head] = x[i];
        sum += x[i];
        head = (head + 1) & 7;
        y[i] = sum / 8;
    }
}
