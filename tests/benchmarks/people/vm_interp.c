#include <stdint.h>
#include <stdio.h>

enum { OP_HALT, OP_PUSH, OP_ADD, OP_SUB, OP_MUL, OP_DUP, OP_SWAP, OP_JNZ, OP_POP };

typedef struct {
    int32_t stack[32];
    int sp;
    int pc;
    int steps;
} vm_t;

static void push(vm_t *vm, int32_t v) { if (vm->sp < 32) vm->stack[vm->sp++] = v; }
static int32_t pop(vm_t *vm) { return vm->sp > 0 ? vm->stack[--vm->sp] : 0; }

int32_t vm_run(const uint8_t code[64], int32_t input)
{
    vm_t vm = {.sp = 0};
    push(&vm, input);
    while (vm.pc < 63 && vm.steps++ < 500) {
        int32_t a, b;
        switch (code[vm.pc++] % 9) {
        case OP_HALT:
            return pop(&vm);
        case OP_PUSH:
            push(&vm, (int8_t)code[vm.pc++]);
            break;
        case OP_ADD:
            a = pop(&vm); b = pop(&vm); push(&vm, (int32_t)((uint32_t)a + (uint32_t)b));
            break;
        case OP_SUB:
            a = pop(&vm); b = pop(&vm); push(&vm, (int32_t)((uint32_t)b - (uint32_t)a));
            break;
        case OP_MUL:
            a = pop(&vm); b = pop(&vm); push(&vm, (int32_t)((uint32_t)a * (uint32_t)b));
            break;
        case OP_DUP:
            a = pop(&vm); push(&vm, a); push(&vm, a);
            break;
        case OP_SWAP:
            a = pop(&vm); b = pop(&vm); push(&vm, a); push(&vm, b);
            break;
        case OP_JNZ:
            if (pop(&vm))
                vm.pc = code[vm.pc] % 64;
            else
                vm.pc++;
            break;
        case OP_POP:
            (void)pop(&vm);
            break;
        default:
            fprintf(stderr, "bad opcode at %d\n", vm.pc);
            return -1;
        }
    }
    return vm.sp;
}
