#include <stdio.h>
#include <string.h>

#define LIMIT 100

int main(void)
{
    char composite[LIMIT + 1];
    int count = 0;
    memset(composite, 0, sizeof(composite));
    for (int i = 2; i <= LIMIT; i++) {
        if (!composite[i]) {
            count++;
            for (int j = i * i; j <= LIMIT; j += i)
                composite[j] = 1;
        }
    }
    printf("%d primes up to %d\n", count, LIMIT);
    return count;
}
