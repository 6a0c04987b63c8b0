// Batches of cycles by several threads (chapter 2 of the dissertation, 2.3.1): every part has a state of its own and runs
// BATCH cycles on inputs that are known ahead. It publishes what others need in one of two buffers in turn, waits for them
// once, and fetches what others own; a buffer is written again when all have passed the next barrier. Included by runner.h, if
// BATCHES is defined: PARTS, BATCH, run_part, publish, fetch and gather are there.
#pragma once
#include <atomic>
#include <new>
#include <sched.h>
#include <thread>
#include <unistd.h>

struct Barrier {
  std::atomic<int> waiting{0};
  std::atomic<unsigned> turn{0};
  void wait() {
    const unsigned now = turn.load(std::memory_order_acquire);
    if (waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == PARTS) {
      waiting.store(0, std::memory_order_relaxed);
      turn.fetch_add(1, std::memory_order_release);
      return;
    }
    for (int n = 0; turn.load(std::memory_order_acquire) == now; n++) {  // spins, then sleeps
      if (n > 20000) usleep(50);
      else if (n > 2000) sched_yield();
    }
  }
};

// Either a stimulus or given inputs. Returns how many cycles were run: the rest is less than a batch.
static u64 run_batches(Run& run, const Stimulus* stimulus, const u64* given, u64 cycles, u64* trace, u64* inputs) {
  const u64 batches = cycles / BATCH;
  if (!batches) return 0;
  static State *parts = 0, *shared = 0;
  if (!parts) parts = (State*)aligned_alloc(64, sizeof(State) * PARTS);
  if (!shared) shared = (State*)aligned_alloc(64, sizeof(State) * PARTS * 2);
  static u64 in[2][BATCH * INPUT_WORDS + 1], out[2][BATCH * OUTPUT_WORDS + 1];
  for (int p = 0; p < PARTS; p++) memcpy((void*)&parts[p], &run.st, sizeof(State));
  const auto prepare = [&](u64 batch) {
    for (u64 b = 0; b < BATCH; b++, run.cycle++) {
      u64* const to = in[batch & 1] + b * INPUT_WORDS;
      const u64 at = (batch * BATCH + b) * INPUT_WORDS;
      if (given) memcpy(to, given + at, sizeof(u64) * INPUT_WORDS);
      else draw(run, *stimulus, to);
      if (inputs) memcpy(inputs + at, to, sizeof(u64) * INPUT_WORDS);
    }
  };
  const auto finish = [&](u64 batch) {
    const u64* const from = out[batch & 1];
    for (u64 b = 0; b < BATCH; b++) digest(run, from + b * OUTPUT_WORDS);
    if (trace) memcpy(trace + batch * BATCH * OUTPUT_WORDS, from, sizeof(u64) * BATCH * OUTPUT_WORDS);
  };
  Barrier barrier;
  const auto work = [&](int p) {
    for (u64 batch = 0; batch < batches; batch++) {
      State* const turn = shared + PARTS * (batch & 1);
      run_part(p, parts[p], in[batch & 1], out[batch & 1]);
      publish(p, parts[p], turn);
      if (p == 0 && batch + 1 < batches) prepare(batch + 1);
      barrier.wait();
      fetch(p, parts[p], turn);
      if (p == 0) finish(batch);
    }
  };
  prepare(0);
  std::thread threads[PARTS];
  for (int p = 1; p < PARTS; p++) threads[p] = std::thread(work, p);
  work(0);
  for (int p = 1; p < PARTS; p++) threads[p].join();
  gather(run.st, parts);
  return batches * BATCH;
}
