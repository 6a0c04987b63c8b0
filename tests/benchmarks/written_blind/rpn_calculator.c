/* Stack machine: codes below 100 push, 100 to 103 compute. Errors are skipped. */
#pragma simfoundry range program=60:104
int rpn_calculator(const unsigned char program[64], int *depth)
{
    int stack[16], sp = 0;
    for (int pc = 0; pc < 64; pc++) {
        int op = program[pc];
        if (op < 100) {
            if (sp < 16)
                stack[sp++] = op - 80;
            continue;
        }
        if (sp < 2)
            continue;
        int b = stack[--sp], a = stack[--sp], r;
        switch (op) {
        case 100: r = a + b; break;
        case 101: r = a - b; break;
        case 102: r = (short)a * (short)b; break;
        default: r = b ? a / b : 0; break;
        }
        stack[sp++] = (short)r;
    }
    *depth = sp;
    return sp ? stack[sp - 1] : 0;
}
