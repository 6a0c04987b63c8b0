#include <stdio.h>

int main(void)
{
    int a = 0, b = 1;
    for (int i = 0; i < 20; i++) {
        printf("%d\n", a);
        int t = a + b;
        a = b;
        b = t;
    }
    return 0;
}
