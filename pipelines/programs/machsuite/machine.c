/* An interpreter of a small register machine, one 32-bit word an instruction: switch in a loop with exits.

   Fields of a word, from the top: operation 8 bits; target, left, right 4 bits each; constant 12 bits. */
#include <stdint.h>

#ifndef CODE
#define CODE 16
#endif
#ifndef MEMORY
#define MEMORY 16
#endif
#ifndef STEPS
#define STEPS 400
#endif
#define REGISTERS 16

enum operation {
    HALT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    AND,
    OR,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    LOAD,
    STORE,
    BRANCH_LESS,
    CONSTANT,
};

/* Steps taken, or minus the address of an instruction that is none. */
int machine(uint32_t code[CODE], uint32_t memory[MEMORY])
{
    uint32_t registers[REGISTERS] = {0};
    unsigned int counter = 0;
    int step;

    for (step = 0; step < STEPS; step++) {
        uint32_t word = code[counter % CODE];
        unsigned int target = word >> 20 & 15;
        uint32_t left = registers[word >> 16 & 15];
        uint32_t right = registers[word >> 12 & 15];
        int32_t constant = (int32_t)(word << 20) >> 20;
        uint32_t result = 0;

        counter++;
        switch (word >> 24) {
        case HALT:
            return step;
        case ADD:
            result = left + right + (uint32_t)constant;
            break;
        case SUBTRACT:
            result = left - right;
            break;
        case MULTIPLY:
            result = left * right;
            break;
        case AND:
            result = left & right;
            break;
        case OR:
            result = left | right;
            break;
        case SHIFT_LEFT:
            result = left << (right & 31);
            break;
        case SHIFT_RIGHT:
            result = left >> (right & 31);
            break;
        case LOAD:
            result = memory[(left + (uint32_t)constant) % MEMORY];
            break;
        case STORE:
            memory[(left + (uint32_t)constant) % MEMORY] = right;
            continue;
        case BRANCH_LESS:
            if ((int32_t)left < (int32_t)right) {
                counter += (uint32_t)constant;
            }
            continue;
        case CONSTANT:
            result = (uint32_t)constant;
            break;
        default:
            return -(int)((counter - 1) % CODE);
        }
        registers[target] = result;
    }
    return step;
}
