// Scoreboard of a FIFO with two clocks: what comes out is what went in, whatever the clocks do.
#include <cstdio>
#include <memory>
#include <queue>
#include "Vtop.h"
#include "verilated.h"

static uint64_t state = 1;
static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

int main(int argc, char** argv) {
  const std::unique_ptr<VerilatedContext> context{new VerilatedContext};
  context->commandArgs(argc, argv);
  const std::unique_ptr<Vtop> top{new Vtop{context.get(), "TOP"}};
  std::queue<unsigned> expected;
  unsigned pushed = 0, popped = 0, wrong = 0, most = 0;

  top->rst_n = 0;
  top->eval();
  printf("before reset: full %d empty %d\n", top->full, top->empty);
  for (int i = 0; i < 4; i++) top->write_clk = !top->write_clk, top->read_clk = !top->read_clk, top->eval();
  top->rst_n = 1;
  top->eval();
  for (int phase = 0; phase < 4; phase++) {
    const unsigned slow_write = phase & 1 ? 5 : 1, slow_read = phase & 2 ? 4 : 1;
    for (int i = 0; i < 3000; i++) {
      context->timeInc(1);
      if (!draw(slow_write)) {
        if (!top->write_clk) top->push = draw(3) != 0, top->in = (CData)draw(256);
        top->eval();  // inputs first, as outputs follow them with the clock unchanged
        if (!top->write_clk && top->push && !top->full) expected.push(top->in), pushed++;
        top->write_clk = !top->write_clk;
      }
      if (!draw(slow_read)) {
        if (!top->read_clk) top->pop = draw(4) != 0;
        top->eval();
        if (!top->read_clk && top->pop && !top->empty) {
          wrong += expected.empty() || top->out != expected.front();
          if (!expected.empty()) expected.pop();
          popped++;
        }
        top->read_clk = !top->read_clk;
      }
      top->eval();
      if (expected.size() > most) most = (unsigned)expected.size();
    }
    printf("phase %d at %llu: pushed %u popped %u wrong %u most %u full %d empty %d\n", phase,
           (unsigned long long)context->time(), pushed, popped, wrong, most, top->full, top->empty);
  }
  top->rst_n = 0;  // without a clock edge
  top->eval();
  printf("reset: full %d empty %d\n", top->full, top->empty);
  top->rst_n = 1;
  top->eval();
  printf("after: full %d empty %d\n", top->full, top->empty);
  top->final();
  return wrong != 0;
}
