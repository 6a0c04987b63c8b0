/* Junction with a side road sensor and a pedestrian button; a state per tick. */
typedef unsigned char u8;
static u8 phase, wait;
static u8 pedestrian;

static u8 lamps(u8 p)
{
    static const u8 table[6] = {0x21, 0x22, 0x24, 0x0c, 0x14, 0x64};
    return table[p];
}

void traffic_lights(const u8 inputs[90], u8 out[90])
{
    for (int t = 0; t < 90; t++) {
        u8 car = inputs[t] & 1;
        if ((inputs[t] & 6) == 6)
            pedestrian = 1;
        if (wait)
            wait--;
        else
            switch (phase) {
            case 0:
                if (car || pedestrian) { phase = 1; wait = 2; }
                break;
            case 1: phase = 2; wait = 1; break;
            case 2:
                if (pedestrian) { phase = 5; wait = 5; pedestrian = 0; }
                else { phase = 3; wait = 6; }
                break;
            case 3: phase = 4; wait = 2; break;
            default: phase = 0; wait = 8; break;
            }
        out[t] = lamps(phase);
    }
}
