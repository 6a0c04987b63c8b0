// Batches of cycles on a GPU: BATCH cycles x levels are one CUDA graph, inputs and outputs of a batch are copied around
// it. Included by runner.h, if ON_GPU is defined: BATCH and launch_cycle are there.
#pragma once
#include <cuda_runtime.h>
#include <stdio.h>

static void require_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  exit(4);
}

struct Gpu {
  State* state;
  u64 *in, *out;
  cudaStream_t stream;
  cudaGraphExec_t batch;
};

static Gpu start_gpu() {
  Gpu gpu;
  require_cuda(cudaStreamCreate(&gpu.stream));
  require_cuda(cudaMalloc(&gpu.state, sizeof(State)));
  require_cuda(cudaMalloc(&gpu.in, sizeof(u64) * (BATCH * INPUT_WORDS + 1)));
  require_cuda(cudaMalloc(&gpu.out, sizeof(u64) * (BATCH * OUTPUT_WORDS + 1)));
  cudaGraph_t graph;
  require_cuda(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeGlobal));
  for (int b = 0; b < BATCH; b++)
    launch_cycle(gpu.stream, gpu.state, gpu.in + b * INPUT_WORDS, gpu.out + b * OUTPUT_WORDS);
  require_cuda(cudaStreamEndCapture(gpu.stream, &graph));
  require_cuda(cudaGraphInstantiateWithFlags(&gpu.batch, graph, 0));
  require_cuda(cudaGraphDestroy(graph));
  return gpu;
}

// As in batch.h.
static u64 run_batches(Run& run, const Stimulus* stimulus, const u64* given, u64 cycles, u64* trace, u64* inputs) {
  const u64 batches = cycles / BATCH;
  if (!batches) return 0;
  static Gpu gpu = start_gpu();
  static u64 in[BATCH * INPUT_WORDS + 1], out[BATCH * OUTPUT_WORDS + 1];
  require_cuda(cudaMemcpyAsync(gpu.state, &run.st, sizeof(State), cudaMemcpyHostToDevice, gpu.stream));
  for (u64 batch = 0; batch < batches; batch++) {
    for (u64 b = 0; b < BATCH; b++, run.cycle++) {
      u64* const to = in + b * INPUT_WORDS;
      const u64 at = (batch * BATCH + b) * INPUT_WORDS;
      if (given) memcpy(to, given + at, sizeof(u64) * INPUT_WORDS);
      else draw(run, *stimulus, to);
      if (inputs) memcpy(inputs + at, to, sizeof(u64) * INPUT_WORDS);
    }
    require_cuda(cudaMemcpyAsync(gpu.in, in, sizeof(u64) * BATCH * INPUT_WORDS, cudaMemcpyHostToDevice, gpu.stream));
    require_cuda(cudaGraphLaunch(gpu.batch, gpu.stream));
    require_cuda(cudaMemcpyAsync(out, gpu.out, sizeof(u64) * BATCH * OUTPUT_WORDS, cudaMemcpyDeviceToHost, gpu.stream));
    require_cuda(cudaStreamSynchronize(gpu.stream));
    for (u64 b = 0; b < BATCH; b++) digest(run, out + b * OUTPUT_WORDS);
    if (trace) memcpy(trace + batch * BATCH * OUTPUT_WORDS, out, sizeof(u64) * BATCH * OUTPUT_WORDS);
  }
  require_cuda(cudaMemcpy(&run.st, gpu.state, sizeof(State), cudaMemcpyDeviceToHost));
  return batches * BATCH;
}
