#include <stdio.h>
#include <stdlib.h>

#define POOL 32

struct node {
    int value;
    struct node *next;
};

static struct node pool[POOL];
static int used;

static struct node *new_node(int value)
{
    if (used >= POOL)
        return NULL;
    struct node *n = &pool[used++];
    n->value = value;
    n->next = NULL;
    return n;
}

int list_sum(const int values[POOL])
{
    struct node *head = NULL;
    for (int i = 0; i < POOL; i++) {
        struct node *n = new_node(values[i]);
        if (!n)
            break;
        n->next = head;
        head = n;
    }
    int sum = 0;
    for (struct node *p = head; p != NULL; p = p->next)
        sum = sum * 3 + p->value;
    printf("sum %d\n", sum);
    return sum;
}
