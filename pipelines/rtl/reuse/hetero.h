// Cycles on two sides: the host, which also draws inputs and reads outputs, and a device, which is a GPU (ON_GPU) or,
// to prove a division without one, the same processor with a state of its own. Included by runner.h, if SIDES is
// defined: LAST, host_step, pack_*, unpack_*, EXCHANGED, gather, and device_step or launch_step are there.
// What crosses to the device lies in a ring of buffers, so that the host may fill the next one while a copy of the one
// before is under way. After the last step the transfer runs while the host draws the next inputs.
#pragma once

enum { TO_DEVICE, TO_HOST };
enum { RING = 4 };  // exchanges to the device that may be under way
static u64 host_buffers[2][RING][MOST_EXCHANGED / 8 + 1];  // by direction; the host waits for each that it receives
static int next_buffer;                                    // to the device

#ifdef ON_GPU
#include <cuda_runtime.h>
#include <stdio.h>

static void require_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  exit(4);
}
static struct {
  State* state;
  u64 *in, *buffers[2];  // buffers by direction: the stream uses one after the other
  cudaStream_t stream;
  cudaEvent_t arrived, taken[RING];
} device;
__global__ void set_inputs_kernel(State* state, const u64* in) {
  const int lane = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;
  for (int t = lane; t < INPUT_WORDS; t += lanes) set_input(*state, t / STIMULI, t % STIMULI, in[t]);
}
enum { INPUT_BLOCKS = INPUT_WORDS / THREADS < 256 ? INPUT_WORDS / THREADS + 1 : 256 };
__global__ void flip_kernel(State* state) { state->cur ^= 1; }

static void device_begin(const State& st) {
  if (!device.state) {
    require_cuda(cudaStreamCreate(&device.stream));
    require_cuda(cudaEventCreateWithFlags(&device.arrived, cudaEventDisableTiming));
    for (auto& event : device.taken) require_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    require_cuda(cudaMalloc(&device.state, sizeof(State)));
    require_cuda(cudaMalloc(&device.in, sizeof(u64) * (INPUT_WORDS + 1)));
    for (auto& buffer : device.buffers) require_cuda(cudaMalloc(&buffer, sizeof host_buffers[0][0]));
    require_cuda(cudaHostRegister(host_buffers, sizeof host_buffers, cudaHostRegisterDefault));
  }
  require_cuda(cudaMemcpyAsync(device.state, &st, sizeof st, cudaMemcpyHostToDevice, device.stream));
}
static void device_inputs(const u64* in) {
  require_cuda(cudaMemcpyAsync(device.in, in, sizeof(u64) * INPUT_WORDS, cudaMemcpyHostToDevice, device.stream));
  set_inputs_kernel<<<INPUT_BLOCKS, THREADS, 0, device.stream>>>(device.state, device.in);
}
static void device_step(int step) {
  launch_step(step, device.stream, device.state);
  require_cuda(cudaGetLastError());
}
static void device_send(int step) {  // to the host
  u64* const buffer = device.buffers[TO_HOST];
  launch_pack(step, device.stream, device.state, (u8*)buffer);
  require_cuda(cudaMemcpyAsync(host_buffers[TO_HOST][0], buffer, EXCHANGED[TO_HOST][step], cudaMemcpyDeviceToHost,
                               device.stream));
  require_cuda(cudaEventRecord(device.arrived, device.stream));
}
static u8* device_buffer() {  // for the host to fill
  require_cuda(cudaEventSynchronize(device.taken[next_buffer]));
  return (u8*)host_buffers[TO_DEVICE][next_buffer];
}
static void device_take(int step) {  // from the host
  u64* const buffer = device.buffers[TO_DEVICE];
  require_cuda(cudaMemcpyAsync(buffer, host_buffers[TO_DEVICE][next_buffer], EXCHANGED[TO_DEVICE][step],
                               cudaMemcpyHostToDevice, device.stream));
  require_cuda(cudaEventRecord(device.taken[next_buffer], device.stream));
  next_buffer = (next_buffer + 1) % RING;
  launch_unpack(step, device.stream, device.state, (const u8*)buffer);
}
static void device_wait() { require_cuda(cudaEventSynchronize(device.arrived)); }
static void device_flip() { flip_kernel<<<1, 1, 0, device.stream>>>(device.state); }
static void device_end(State& st) {
  State* copy = (State*)aligned_alloc(64, (sizeof(State) + 63) / 64 * 64);
  require_cuda(cudaMemcpyAsync(copy, device.state, sizeof st, cudaMemcpyDeviceToHost, device.stream));
  require_cuda(cudaStreamSynchronize(device.stream));
  gather(st, *copy);
  free(copy);
}
#else
static State* device_state;
static void device_begin(const State& st) {
  if (!device_state) device_state = (State*)aligned_alloc(64, (sizeof(State) + 63) / 64 * 64);
  memcpy((void*)device_state, &st, sizeof st);
}
static void device_inputs(const u64* in) { set_inputs(*device_state, in); }
static void device_step(int step) { side_step(step, *device_state); }
static void device_send(int step) { pack_device(step, *device_state, (u8*)host_buffers[TO_HOST][0]); }
static u8* device_buffer() { return (u8*)host_buffers[TO_DEVICE][next_buffer]; }
static void device_take(int step) { unpack_device(step, *device_state, device_buffer()); }
static void device_wait() {}
static void device_flip() { device_state->cur ^= 1; }
static void device_end(State& st) { gather(st, *device_state); }
#endif

// As in batch.h; it runs all cycles.
static u64 run_batches(Run& run, const Stimulus* stimulus, const u64* given, u64 cycles, u64* trace, u64* inputs) {
  if (!cycles) return 0;
  static u64 in[2][INPUT_WORDS + 1], out[OUTPUT_WORDS + 1];
  const auto prepare = [&](u64 cycle) {
    u64* const to = in[cycle & 1];
    if (given) memcpy(to, given + cycle * INPUT_WORDS, sizeof(u64) * INPUT_WORDS);
    else draw(run, *stimulus, to);
    if (inputs) memcpy(inputs + cycle * INPUT_WORDS, to, sizeof(u64) * INPUT_WORDS);
    run.cycle++;
  };
  device_begin(run.st);
  prepare(0);
  for (u64 cycle = 0; cycle < cycles; cycle++) {
    const int parity = (int)(cycle & 1);
    device_inputs(in[parity]);
    set_inputs(run.st, in[parity]);
    for (int step = 1; step <= LAST; step++) {
      device_step(step);  // a GPU works on it while the host goes on
      host_step(step, run.st, out);
      if (EXCHANGED[TO_HOST][step]) device_send(step);
      if (EXCHANGED[TO_DEVICE][step]) {
        pack_host(step, run.st, device_buffer());
        device_take(step);
      }
      if (step == LAST) {
        device_flip();
        digest(run, out);
        if (trace) memcpy(trace + cycle * OUTPUT_WORDS, out, sizeof(u64) * OUTPUT_WORDS);
        if (cycle + 1 < cycles) prepare(cycle + 1);
      }
      if (EXCHANGED[TO_HOST][step]) {
        device_wait();
        unpack_host(step, run.st, (const u8*)host_buffers[TO_HOST][0]);
      }
    }
    run.st.cur ^= 1;
  }
  device_end(run.st);
  return cycles;
}
