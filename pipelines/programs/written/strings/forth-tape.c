#include <stdint.h>

#ifndef PROG
#define PROG 300
#endif
#ifndef MEM
#define MEM 64
#endif
#ifndef FUEL
#define FUEL 6000
#endif

/* One-letter stack language.
 * 0-9 push    + - * / % arithmetic   & | ^ ~ bits    < = > compare
 * d dup  s swap  o over  r rot  p drop  ! @ store, fetch  . print
 * ( ) loop while top is not 0   ? skip next word if top is 0
 * Errors clear the stack. */

typedef int32_t CELL;
#define DEPTH 32

/* codes of the tape to words, digits and common words first */
static const char words[32] = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '*', '/', '%', 'd',
    's', 'o', 'r', 'p', '.', '!', '@', '(', ')', '?', '<', '=', '&', '^', '~', 'd'
};
#define WRAP(expr) ((CELL)(uint32_t)(expr))

static int16_t jump[PROG];

static int link_loops(const char *prog)
{
    int16_t open[PROG];
    int n = 0, loose = 0;
    for (int16_t i = 0; i < PROG; i++) {
        jump[i] = -1;
        if (prog[i] == '(') open[n++] = i;
        else if (prog[i] == ')') {
            if (n) { jump[i] = open[--n]; jump[open[n]] = i; }
            else loose++;
        }
    }
    return loose + n;
}

int forth_run(const uint8_t *tape, CELL mem[MEM], CELL *printed, uint32_t *info)
{
    CELL st[DEPTH], a, b;
    char prog[PROG];
    int sp = 0, out = 0, errors = 0, pc = 0;
    uint32_t fuel = FUEL;

    for (int i = 0; i < PROG; i++)
        prog[i] = tape[i] < 160 ? words[tape[i] & 31] : words[tape[i] % 10];
    info[0] = (uint32_t)link_loops(prog);

    for (pc = 0; pc < PROG && fuel; pc++, fuel--) {
        char w = prog[pc];
        int need = 0;
        switch (w) {
        case '+': case '-': case '*': case '/': case '%': case '&': case '|': case '^':
        case '<': case '=': case '>': case 's': case 'o': case '!': need = 2; break;
        case 'd': case 'p': case '@': case '.': case '~': case '?': case '(': case ')': need = 1; break;
        case 'r': need = 3; break;
        }
        if (sp < need || (sp >= DEPTH - 1 && (w == 'd' || w == 'o' || (w >= '0' && w <= '9')))) {
            sp = 0;
            errors++;
            continue;
        }
        if (need == 2) {
            b = st[--sp];
            a = st[--sp];
            switch (w) {
            case '+': st[sp++] = WRAP((uint32_t)a + (uint32_t)b); break;
            case '-': st[sp++] = WRAP((uint32_t)a - (uint32_t)b); break;
            case '*': st[sp++] = WRAP((uint32_t)a * (uint32_t)b); break;
            case '/': st[sp++] = b ? WRAP((int64_t)a / b) : 0; break;
            case '%': st[sp++] = b ? WRAP((int64_t)a % b) : a; break;
            case '&': st[sp++] = a & b; break;
            case '|': st[sp++] = a | b; break;
            case '^': st[sp++] = a ^ b; break;
            case '<': st[sp++] = a < b; break;
            case '=': st[sp++] = a == b; break;
            case '>': st[sp++] = a > b; break;
            case 's': st[sp++] = b; st[sp++] = a; break;
            case 'o': st[sp++] = a; st[sp++] = b; st[sp++] = a; break;
            case '!': mem[(uint32_t)b % MEM] = a; break;
            }
            continue;
        }
        switch (w) {
        case '0': case '1': case '2': case '3': case '4':
        case '5': case '6': case '7': case '8': case '9':
            st[sp++] = w - '0';
            break;
        case 'd': st[sp] = st[sp - 1]; sp++; break;
        case 'p': sp--; break;
        case 'r': a = st[sp - 3]; st[sp - 3] = st[sp - 2]; st[sp - 2] = st[sp - 1]; st[sp - 1] = a; break;
        case '@': st[sp - 1] = mem[(uint32_t)st[sp - 1] % MEM]; break;
        case '~': st[sp - 1] = ~st[sp - 1]; break;
        case '.': printed[out++ % MEM] = st[--sp]; break;
        case '?': if (st[--sp] == 0) pc++; break;
        case '(': if (st[sp - 1] == 0 && jump[pc] >= 0) pc = jump[pc]; break;
        case ')': if (st[sp - 1] != 0 && jump[pc] >= 0) pc = jump[pc]; break;
        }
    }
    info[1] = (uint32_t)FUEL - fuel;
    info[2] = (uint32_t)errors;
    return out;
}
