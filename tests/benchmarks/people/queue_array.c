#include <stdio.h>
#include <stdbool.h>

#define CAPACITY 64

static int queue[CAPACITY];
static int front = 0, rear = 0;

static bool enqueue(int v)
{
    if (rear == CAPACITY)
        return false;
    queue[rear++] = v;
    return true;
}

static bool dequeue(int *v)
{
    if (front == rear)
        return false;
    *v = queue[front++];
    return true;
}

int flood_fill(unsigned char grid[8][8], int start_x, int start_y)
{
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    int filled = 0, cell;
    front = rear = 0;
    start_x &= 7;
    start_y &= 7;
    grid[start_y][start_x] = 2;
    enqueue(start_y * 8 + start_x);
    while (dequeue(&cell)) {
        filled++;
        for (int k = 0; k < 4; k++) {
            int x = cell % 8 + dx[k], y = cell / 8 + dy[k];
            if (x < 0 || y < 0 || x >= 8 || y >= 8 || (grid[y][x] & 1) || grid[y][x] == 2)
                continue;
            grid[y][x] = 2;
            if (!enqueue(y * 8 + x))
                fprintf(stderr, "queue overflow\n");
        }
    }
    return filled;
}
