// Wide ports word by word, outputs without a clock edge, inputs that change with the edge, resets at any time.
#include <stdio.h>
#include "Vtop.h"
#include "verilated.h"
#include "verilated_vcd_c.h"

static uint32_t state = 7;
static uint32_t draw() {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

int main() {
  VerilatedContext context;
  context.traceEverOn(true);
  Vtop top{&context};
  VerilatedVcdC vcd;
  top.trace(&vcd, 0);
  vcd.open("wave.vcd");
  for (int i = 0; i < 600 && !context.gotFinish(); i++) {
    if (i % 50 == 7) top.rst = 1;
    if (i % 50 == 9 || draw() % 40 == 0) top.rst = 0;
    if (draw() % 3 == 0) top.enable = !top.enable;
    for (int word = 0; word < 4; word++) top.sample[word] = word < 3 ? draw() : draw() & 15;
    top.carry.at(0) = draw(), top.carry.at(1) = draw(), top.carry.data()[2] = draw() & 1;
    top.class___05Fof = draw() & 7;
    if (draw() % 4) top.clk = !top.clk;
    top.eval();
    vcd.dump(context.time());
    context.timeInc(10);
    const VlWide<4> sum = top.sum;
    printf("%d: %x %08x %08x %08x held %x %08x low %016llx ticks %u mixed %08x half %d carry %x %08x %08x\n", i, sum[3], sum[2],
           sum[1], sum[0], top.held[3], top.held[0], (unsigned long long)top.low, top.ticks, top.mixed, top.half,
           top.next_carry[2], top.next_carry[1], top.next_carry[0]);
    if (i == 598) context.gotFinish(true);
  }
  top.final();
  vcd.close();
}
