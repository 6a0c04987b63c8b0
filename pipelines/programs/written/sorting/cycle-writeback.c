#include <stdint.h>
#ifndef CELLS
#define CELLS 96
#endif

typedef struct { uint16_t id; uint16_t wear; } eeprom_rec;

/* Cycle sort: every record is written at most once, since each write wears the
   cell. Returns the number of writes; log[] takes the address of each. */
int eeprom_sort(const uint16_t *ids, eeprom_rec *mem, uint16_t *log)
{
    int writes = 0;
    for (int i = 0; i < CELLS; i++) {
        mem[i].id = ids[i];
        mem[i].wear = 0;
    }

    for (int start = 0; start < CELLS - 1; start++) {
        uint16_t hand = mem[start].id;
        int dest = start;
        for (int i = start + 1; i < CELLS; i++)
            if (mem[i].id < hand) dest++;
        if (dest == start) goto next;

        do {
            while (mem[dest].id == hand && dest != start) dest++;
            if (mem[dest].id != hand) {
                uint16_t t = mem[dest].id;
                mem[dest].id = hand;
                mem[dest].wear++;
                log[writes++] = (uint16_t)dest;
                hand = t;
            }
            if (dest == start) break;
            dest = start;
            for (int i = start + 1; i < CELLS; i++)
                dest += mem[i].id < hand;
        } while (1);
next:   ;
    }
    return writes;
}
