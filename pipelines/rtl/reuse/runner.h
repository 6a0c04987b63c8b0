// C interface of a simulated design. Before it: State with initialise, set_inputs, evaluate, get_outputs, advance; set_event
// with FALLING, where the first evaluation of a cycle is that of the falling edge, or CLOCKS with PERIODS and PHASES.
// INPUTS, OUTPUTS, STIMULI, INPUT_MASKS. Words lie stimulus by stimulus: word i of stimulus s at i * STIMULI + s.
#pragma once
#include <new>
#include <stdlib.h>

enum { INPUT_WORDS = INPUTS * STIMULI, OUTPUT_WORDS = OUTPUTS * STIMULI };

struct Run {
  State st;
  u64 cycle;
  u64 random[INPUT_WORDS + 1];  // of xorshift64
  u64 digest[STIMULI];
};

// Stimulus: word i is `active[i]` for the first `pulse[i]` cycles, then its complement; random if `pulse[i]` is 0.
struct Stimulus {
  u64 seed;
  const u64* pulse;
  const u64* active;
};

static inline u64 mix(u64 z) {  // splitmix64
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static void seed_random(Run& run, u64 seed) {
  for (int i = 0; i < INPUT_WORDS; i++) run.random[i] = mix(mix(seed) + (u64)i) | 1;
}

static void draw(Run& run, const Stimulus& stimulus, u64* in) {
  if (run.cycle == 0) seed_random(run, stimulus.seed);
  u64* const random = run.random;
  for (int k = 0; k < INPUT_WORDS; k++) in[k] = random[k] = next_random(random[k]);
  for (int i = 0; i < INPUTS; i++)
    if (stimulus.pulse[i])
      for (int s = 0; s < STIMULI; s++)
        in[i * STIMULI + s] = (run.cycle < stimulus.pulse[i] ? stimulus.active[i] : ~stimulus.active[i]);
  for (int i = 0; i < INPUTS; i++)
    for (int s = 0; s < STIMULI; s++) in[i * STIMULI + s] &= INPUT_MASKS[i];
}

static void digest(Run& run, const u64* out) {
  u64 sum[STIMULI] = {0};
  for (int i = 0; i < OUTPUTS; i++) {
    const u64 factor = 0x9e3779b97f4a7c15ull * (2 * (u64)i + 1);
    for (int s = 0; s < STIMULI; s++) sum[s] += out[i * STIMULI + s] * factor;
  }
  for (int s = 0; s < STIMULI; s++) run.digest[s] = next_digest(run.digest[s], sum[s]);
}

#ifdef SIDES
#include "hetero.h"
#elif defined ON_GPU
#include "batch_cuda.h"
#elif defined BATCHES
#include "batch.h"
#endif

extern "C" {
void sim_shape(u64* shape) {
  shape[0] = INPUTS;
  shape[1] = OUTPUTS;
  shape[2] = STIMULI;
  shape[3] = sizeof(Run);
}
void* sim_new(void) {
  void* memory = aligned_alloc(64, (sizeof(Run) + 63) / 64 * 64);
  return memory ? new (memory) Run : 0;
}
void sim_reset(void* handle) {
  Run& run = *(Run*)handle;
  initialise(run.st);
  run.cycle = 0;
  memset(run.random, 0, sizeof run.random);
  memset(run.digest, 0, sizeof run.digest);
}
void sim_free(void* handle) {
  ((Run*)handle)->~Run();
  free(handle);
}
void sim_step(void* handle, const u64* in, u64* out) {
  Run& run = *(Run*)handle;
  set_inputs(run.st, in);
#ifdef FALLING
  if (run.cycle) {  // the clock falls; it is low at the beginning
    set_event(run.st, 0);
    evaluate(run.st);
    advance(run.st);
  }
  set_event(run.st, 1);
#endif
#ifdef CLOCKS
  u64 edges = 0;
  for (int k = 0; k < CLOCKS; k++) edges |= (u64)(run.cycle % PERIODS[k] == PHASES[k]) << k;
  set_event(run.st, edges);
#endif
  evaluate(run.st);
  get_outputs(run.st, out);
  advance(run.st);
  run.cycle++;
}
// Given inputs, words of a cycle behind each other; digests and outputs as in sim_run.
void sim_play(void* handle, const u64* in, u64 cycles, u64* digests, u64* trace) {
  Run& run = *(Run*)handle;
  static u64 out[OUTPUT_WORDS + 1];  // too large for a stack with many stimuli
  u64 i = 0;
#ifdef BATCHES
  i = run_batches(run, 0, in, cycles, trace, 0);
#endif
  for (in += i * INPUT_WORDS; i < cycles; i++, in += INPUT_WORDS) {
    sim_step(handle, in, out);
    digest(run, out);
    if (trace) memcpy(trace + i * OUTPUT_WORDS, out, sizeof(u64) * OUTPUT_WORDS);
  }
  memcpy(digests, run.digest, sizeof run.digest);
}
// Drawn inputs. `trace` (or 0) gets the outputs of every cycle, `inputs` (or 0) what was drawn.
void sim_run(void* handle, const Stimulus* stimulus, u64 cycles, u64* digests, u64* trace, u64* inputs) {
  Run& run = *(Run*)handle;
  static u64 in[INPUT_WORDS + 1], out[OUTPUT_WORDS + 1];
  u64 i = 0;
#ifdef BATCHES
  i = run_batches(run, stimulus, 0, cycles, trace, inputs);
#endif
  for (; i < cycles; i++) {
    draw(run, *stimulus, in);
    if (inputs) memcpy(inputs + i * INPUT_WORDS, in, sizeof(u64) * INPUT_WORDS);
    sim_step(handle, in, out);
    digest(run, out);
    if (trace) memcpy(trace + i * OUTPUT_WORDS, out, sizeof(u64) * OUTPUT_WORDS);
  }
  memcpy(digests, run.digest, sizeof run.digest);
}
}
