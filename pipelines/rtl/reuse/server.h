// The process of a simulator: it answers requests on two pipes, whose numbers are its arguments. Behind runner.h.
// A request is a word that says what, then its words; everything is u64 in the order of the machine.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum Request { RESET = 1, STEP, RUN, PLAY, READ, WRITE, LAYOUT, WATCH };
enum Traced { NOTHING, OUTPUTS_ONLY, INPUTS_TOO };

static int from_client, to_client;

static void receive(void* data, size_t bytes) {
  for (char* at = (char*)data; bytes;) {
    ssize_t got = read(from_client, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0);  // the client is gone
    at += got, bytes -= (size_t)got;
  }
}
static void answer(const void* data, size_t bytes) {
  for (const char* at = (const char*)data; bytes;) {
    ssize_t put = write(to_client, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) _exit(0);
    at += put, bytes -= (size_t)put;
  }
}
static u64 nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}
static u64* words(u64 count) {
  u64* memory = (u64*)malloc(sizeof(u64) * (count + 1));
  if (!memory) _exit(3);
  return memory;
}

// Registers whose values of every traced cycle follow the outputs: bytes to the word, to its second buffer, of its size.
struct Watched {
  u64 offset, second, size;
};
static Watched* watched;
static u64 watched_words;

static void watch() {
  receive(&watched_words, sizeof watched_words);
  free(watched);
  watched = (Watched*)words(3 * watched_words);
  receive(watched, sizeof(Watched) * watched_words);
}
static void look(const void* handle, u64* to) {
  int current;  // the state begins with the number of its buffer
  memcpy(&current, handle, sizeof current);
  for (u64 i = 0; i < watched_words; i++) {
    to[i] = 0;
    memcpy(to + i, (const char*)handle + watched[i].offset + watched[i].second * (u64)current, watched[i].size);
  }
}

// Answers with outputs and inputs of all cycles, as far as wanted, then digests, elapsed and processor time.
static void simulate(void* handle, u64 what) {
  u64 head[3];  // cycles, what is traced, seed
  receive(head, sizeof head);
  const u64 cycles = head[0], traced = head[1];
  u64 *in = 0, *out = traced ? words(cycles * OUTPUT_WORDS) : 0, digests[STIMULI + 2];
  Stimulus stimulus = {head[2], 0, 0};
  if (what == RUN) {
    u64* pulses = words(2 * INPUTS);
    receive(pulses, sizeof(u64) * 2 * INPUTS);
    stimulus.pulse = pulses;
    stimulus.active = pulses + INPUTS;
    in = traced == INPUTS_TOO ? words(cycles * INPUT_WORDS) : 0;
  } else {
    in = words(cycles * INPUT_WORDS);
    receive(in, sizeof(u64) * cycles * INPUT_WORDS);
  }
  const u64 elapsed = nanoseconds(CLOCK_MONOTONIC), used = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  u64* const seen = traced && cycles && watched_words ? words(cycles * watched_words) : 0;
  const u64 stride = seen ? 1 : cycles;
  u64 i = 0;
  do {
    u64 *const out_at = out ? out + i * OUTPUT_WORDS : 0, *const in_at = in ? in + i * INPUT_WORDS : 0;
    if (seen) look(handle, seen + i * watched_words);
    if (what == RUN)
      sim_run(handle, &stimulus, stride, digests, out_at, in_at);
    else
      sim_play(handle, in_at, stride, digests, out_at);
    i += stride;
  } while (i < cycles);
  digests[STIMULI] = nanoseconds(CLOCK_MONOTONIC) - elapsed;
  digests[STIMULI + 1] = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used;
  if (traced) answer(out, sizeof(u64) * cycles * OUTPUT_WORDS);
  if (traced == INPUTS_TOO) answer(in, sizeof(u64) * cycles * INPUT_WORDS);
  if (seen) answer(seen, sizeof(u64) * cycles * watched_words);
  answer(digests, sizeof digests);
  free(in), free(out), free(seen), free((void*)stimulus.pulse);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  from_client = atoi(argv[1]), to_client = atoi(argv[2]);
  dup2(open("/dev/null", O_WRONLY), 1);  // what the design prints
  u64 shape[4];
  sim_shape(shape);
  answer(shape, sizeof shape);
  void* handle = sim_new();
  if (!handle) return 3;
  static u64 in[INPUT_WORDS + 1], out[OUTPUT_WORDS + 1];
  for (u64 what;;) {
    receive(&what, sizeof what);
    if (what == RESET) {
      sim_reset(handle);
    } else if (what == STEP) {
      receive(in, sizeof(u64) * INPUT_WORDS);
      sim_step(handle, in, out);
      answer(out, sizeof(u64) * OUTPUT_WORDS);
    } else if (what == READ || what == WRITE) {  // words of the state
      u64 range[2];
      receive(range, sizeof range);
      if (what == READ)
        answer((u64*)handle + range[0], sizeof(u64) * range[1]);
      else
        receive((u64*)handle + range[0], sizeof(u64) * range[1]);
#ifdef ACTIVITY
      if (what == WRITE) touch(((Run*)handle)->st);
#endif
    } else if (what == WATCH) {
      watch();
    } else if (what == LAYOUT) {
#ifdef LAYOUT_WORDS
      u64 layout[LAYOUT_WORDS + 1];
      sim_layout(layout);
      answer(layout, sizeof(u64) * LAYOUT_WORDS);
#endif
    } else {
      simulate(handle, what);
    }
  }
}
