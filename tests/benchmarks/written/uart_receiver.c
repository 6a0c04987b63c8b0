/* Samples a line 4 times per bit and assembles bytes: idle, start, 8 data bits, stop. */
enum state { IDLE, START, DATA, STOP };

int uart_receiver(const unsigned char line[240], unsigned char got[8])
{
    enum state s = IDLE;
    int tick = 0, bit = 0, count = 0;
    unsigned shift = 0;

    for (int t = 0; t < 240; t++) {
        int level = line[t] & 1;
        switch (s) {
        case IDLE:
            if (!level) {
                s = START;
                tick = 0;
            }
            break;
        case START:
            if (++tick == 2) {
                s = level ? IDLE : DATA;
                tick = 0;
                bit = 0;
            }
            break;
        case DATA:
            if (++tick == 4) {
                tick = 0;
                shift = shift >> 1 | (unsigned)level << 7;
                if (++bit == 8)
                    s = STOP;
            }
            break;
        case STOP:
            if (++tick == 4) {
                if (level && count < 8)
                    got[count++] = (unsigned char)shift;
                s = IDLE;
            }
            break;
        }
    }
    return count;
}
