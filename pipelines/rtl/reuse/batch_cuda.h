// Batches of cycles on a GPU: BATCH cycles are one CUDA graph (AS_GRAPH), launches (AS_STREAM) or one kernel with
// barriers (AS_LOOP). Included by runner.h, if ON_GPU is defined: Io, BATCH, launch_cycle or loop_cycle are there.
#pragma once
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdio.h>

static void require_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  exit(4);
}

struct Gpu {
  State* state;
  Io* io;
  cudaStream_t stream;
  cudaGraphExec_t batch;
};

#ifdef AS_LOOP
// Blocks of a cluster, whose barrier is in hardware; more lanes than it has take turns.
enum { CLUSTER = 8, LOOP_THREADS = 512 };

__global__ void __launch_bounds__(LOOP_THREADS) loop_kernel(State* state, Io* io, u64 batches) {
  const int thread = blockIdx.x * LOOP_THREADS + threadIdx.x;
  const auto wait = [] {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  };
  int cur = state->cur;
  wait();
  for (u64 batch = 0; batch < batches; batch++)
    for (int b = 0; b < BATCH; b++)
      loop_cycle(*state, *io, cur ^= 1, b, thread / THREADS, gridDim.x * (LOOP_THREADS / THREADS), thread % THREADS,
                 wait);
}

static void launch_batches(const Gpu& gpu, u64 batches) {
  const int needed = (MOST_BLOCKS * THREADS + LOOP_THREADS - 1) / LOOP_THREADS;
  int blocks = 1;
  while (blocks < needed && blocks < CLUSTER) blocks *= 2;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(LOOP_THREADS);
  config.stream = gpu.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  require_cuda(cudaLaunchKernelEx(&config, loop_kernel, gpu.state, gpu.io, batches));
}
#else
static void launch_cycles(const Gpu& gpu) {
  for (int b = 0; b < BATCH; b++) launch_cycle(gpu.stream, gpu.state, gpu.io, b);
  require_cuda(cudaGetLastError());
}
#ifdef AS_STREAM
static void launch_batches(const Gpu& gpu, u64 batches) {
  for (u64 i = 0; i < batches; i++) launch_cycles(gpu);
}
#else
static void launch_batches(const Gpu& gpu, u64 batches) {
  for (u64 i = 0; i < batches; i++) require_cuda(cudaGraphLaunch(gpu.batch, gpu.stream));
}
#endif
#endif

static Gpu start_gpu() {
  Gpu gpu = {};
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // a kernel that is loaded at its first launch disturbs a capture
  require_cuda(cudaStreamCreate(&gpu.stream));
  require_cuda(cudaMalloc(&gpu.state, sizeof(State)));
  require_cuda(cudaMalloc(&gpu.io, sizeof(Io)));
#ifdef AS_GRAPH
  cudaGraph_t graph;
  require_cuda(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
  launch_cycles(gpu);
  require_cuda(cudaStreamEndCapture(gpu.stream, &graph));
  require_cuda(cudaGraphInstantiateWithFlags(&gpu.batch, graph, 0));
  require_cuda(cudaGraphDestroy(graph));
#endif
  return gpu;
}

// As in batch.h.
static u64 run_batches(Run& run, const Stimulus* stimulus, const u64* given, u64 cycles, u64* trace, u64* inputs) {
  const u64 batches = cycles / BATCH;
  if (!batches) return 0;
  static Gpu gpu = start_gpu();
  static Io io;  // of which the part before `in` travels
  const auto copy = [](void* to, const void* from, size_t size, cudaMemcpyKind kind) {
    require_cuda(cudaMemcpyAsync(to, from, size, kind, gpu.stream));
  };
  if (stimulus && run.cycle == 0) seed_random(run, stimulus->seed);
  io.cycle = io.first = run.cycle;
  io.is_given = given != 0;
  if (stimulus) {
    memcpy(io.pulse, stimulus->pulse, sizeof(u64) * INPUTS);
    memcpy(io.active, stimulus->active, sizeof(u64) * INPUTS);
    memcpy(io.masks, INPUT_MASKS, sizeof(u64) * INPUTS);
  }
  memcpy(io.random, run.random, sizeof io.random);
  memcpy(io.digest, run.digest, sizeof io.digest);
  run.st.cur ^= 1;  // a cycle changes it at its start
  copy(gpu.state, &run.st, sizeof(State), cudaMemcpyHostToDevice);
  copy(gpu.io, &io, offsetof(Io, in), cudaMemcpyHostToDevice);
  const size_t in_words = (size_t)BATCH * INPUT_WORDS, out_words = (size_t)BATCH * OUTPUT_WORDS;
  if (!given && !trace && !inputs) {
    launch_batches(gpu, batches);
  } else {
    for (u64 i = 0; i < batches; i++) {
      if (given) copy(gpu.io->in, given + i * in_words, sizeof(u64) * in_words, cudaMemcpyHostToDevice);
      launch_batches(gpu, 1);
      if (inputs) copy(inputs + i * in_words, gpu.io->in, sizeof(u64) * in_words, cudaMemcpyDeviceToHost);
      if (trace) copy(trace + i * out_words, gpu.io->out, sizeof(u64) * out_words, cudaMemcpyDeviceToHost);
    }
  }
  copy(&run.st, gpu.state, sizeof(State), cudaMemcpyDeviceToHost);
  copy(&io, gpu.io, offsetof(Io, in), cudaMemcpyDeviceToHost);
  require_cuda(cudaStreamSynchronize(gpu.stream));
  run.st.cur ^= 1;
  run.cycle += batches * BATCH;
  memcpy(run.random, io.random, sizeof io.random);
  for (int s = 0; s < STIMULI; s++) run.digest[s] = next_digest(io.digest[s], io.sum[s]);
  return batches * BATCH;
}
