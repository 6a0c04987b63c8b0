// What a GPU keeps beside the state, and the start of a cycle. Before it: State, set_input, INPUTS, OUTPUTS, STIMULI,
// BATCH. Inputs are drawn and outputs digested on the GPU, so that batches follow each other without the host.
#pragma once

struct Io {
  u64 cycle, first, is_given;  // numbers of this cycle and of the first one; whether `in` holds the inputs
  u64 pulse[INPUTS + 1], active[INPUTS + 1], masks[INPUTS + 1];
  u64 random[INPUTS * STIMULI + 1];
  u64 digest[STIMULI], sum[STIMULI];  // without the latest cycle; of its outputs
  u64 in[BATCH * INPUTS * STIMULI + 1], out[BATCH * OUTPUTS * STIMULI + 1];
};

__device__ static void add(u64& sum, u64 x) { atomicAdd((unsigned long long*)&sum, (unsigned long long)x); }

__device__ static u64 next_input(Io& io, int b, int t) {
  u64* const in = io.in + (size_t)b * INPUTS * STIMULI + t;
  const int i = t / STIMULI;
  // All loads at once.
  const u64 is_given = io.is_given, given = *in, random = next_random(io.random[t]), cycle = io.cycle;
  const u64 pulse = io.pulse[i], active = io.active[i], bits = io.masks[i];
  if (is_given) return given;
  io.random[t] = random;
  return *in = (!pulse ? random : cycle < pulse ? active : ~active) & bits;
}

// Takes in the sum of the cycle before, changes buffers and sets inputs. No other thread reads `cur` meanwhile.
__device__ static void start_cycle(State& st, Io& io, int b, int lane, int lanes) {
  if (lane == 0) st.cur ^= 1;
  for (int s = lane; s < STIMULI; s += lanes) {
    if (io.cycle != io.first) io.digest[s] = next_digest(io.digest[s], io.sum[s]);
    io.sum[s] = 0;
  }
  for (int t = lane; t < INPUTS * STIMULI; t += lanes) set_input(st, t / STIMULI, t % STIMULI, next_input(io, b, t));
}
