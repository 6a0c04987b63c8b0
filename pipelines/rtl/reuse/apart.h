// A state of its own for each of APART stimuli, evaluated one after another. Before it: namespace one with the
// design for one stimulus. After it: what runner.h expects, for all.
#pragma once
enum { INPUTS = one::INPUTS, OUTPUTS = one::OUTPUTS, STIMULI = APART };
using one::INPUT_MASKS;

struct State {
  one::State of[STIMULI];
};

static void initialise(State& st) {
  for (one::State& own : st.of) one::initialise(own);
}
static void set_inputs(State& st, const u64* in) {
  u64 own[INPUTS + 1];
  for (int s = 0; s < STIMULI; s++) {
    for (int i = 0; i < INPUTS; i++) own[i] = in[i * STIMULI + s];
    one::set_inputs(st.of[s], own);
  }
}
#if defined FALLING || defined CLOCKS
using one::PERIODS;
using one::PHASES;
static void set_event(State& st, u64 edges) {
  for (one::State& own : st.of) one::set_event(own, edges);
}
#endif
static void evaluate(State& st) {
  for (one::State& own : st.of) one::evaluate(own);
}
static void get_outputs(State& st, u64* out) {
  u64 own[OUTPUTS + 1];
  for (int s = 0; s < STIMULI; s++) {
    one::get_outputs(st.of[s], own);
    for (int i = 0; i < OUTPUTS; i++) out[i * STIMULI + s] = own[i];
  }
}
static void advance(State& st) {
  for (one::State& own : st.of) one::advance(own);
}
