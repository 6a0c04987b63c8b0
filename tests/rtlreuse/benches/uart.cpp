// Loop of a UART with a waveform, in the style of older benches: global functions and time of the bench.
#include <stdio.h>
#include <string.h>
#include "Vtop.h"
#include "verilated.h"
#include "verilated_vcd_c.h"

vluint64_t main_time = 0;
double sc_time_stamp() { return (double)main_time; }

static Vtop* top;
static VerilatedVcdC* vcd;

static void tick() {
  top->clk = 0;
  top->eval();
  vcd->dump(main_time++);
  top->clk = 1;
  top->eval();
  vcd->dump(main_time++);
}

int main(int argc, char** argv, char** env) {
  (void)env;
  Verilated::commandArgs(argc, argv);
  Verilated::traceEverOn(true);
  top = new Vtop;
  vcd = new VerilatedVcdC;
  top->trace(vcd, 99);
  vcd->open("wave.vcd");
  top->line_in = 1;
  top->rst = 1;
  for (int i = 0; i < 3; i++) tick();
  top->rst = 0;
  const char* text = "Simulate me!";
  char received[64];
  int count = 0;
  for (size_t i = 0; i < strlen(text);) {
    top->start = !top->busy;
    top->data = (CData)text[i];
    top->eval();
    if (top->start) i++;
    tick();
    top->start = 0;
    while (top->busy) {
      tick();
      if (top->__SYM__interrupt) printf("%llu: %c\n", (unsigned long long)main_time, received[count++] = (char)top->received);
    }
  }
  for (int i = 0; i < 20; i++) {
    tick();
    if (top->__SYM__interrupt) printf("%llu: %c\n", (unsigned long long)main_time, received[count++] = (char)top->received);
  }
  received[count] = 0;
  printf("%s\n", received);
  top->final();
  vcd->close();
  delete vcd;
  delete top;
  return strcmp(received, text) != 0;
}
