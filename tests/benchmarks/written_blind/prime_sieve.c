#define LIMIT 200
#pragma simfoundry range n=50:200
int prime_sieve(int n, unsigned char prime[64])
{
    unsigned char crossed[LIMIT] = {0};
    int count = 0;
    for (int i = 2; i < n; i++) {
        if (crossed[i])
            continue;
        if (count < 64)
            prime[count] = (unsigned char)i;
        count++;
        for (int k = i * i; k < n; k += i)
            crossed[k] = 1;
    }
    return count;
}
