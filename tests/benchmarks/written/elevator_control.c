/* A lift with four floors; requests as bit masks per time step. */
#pragma simfoundry range request=0:16
int elevator_control(const unsigned char request[64], unsigned char trace[64])
{
    int floor = 0, dir = 0, door = 0, pending = 0, moved = 0;

    for (int t = 0; t < 64; t++) {
        pending |= request[t];
        if (door > 0) {
            door--;
        } else if (pending & (1 << floor)) {
            pending &= ~(1 << floor);
            door = 2;
        } else if (pending) {
            int above = pending >> (floor + 1);
            int below = pending & ((1 << floor) - 1);
            if (dir >= 0)
                dir = above ? 1 : -1;
            else
                dir = below ? -1 : 1;
            floor += dir;
            moved++;
        } else {
            dir = 0;
        }
        trace[t] = (unsigned char)(floor | door << 4);
    }
    return moved;
}
