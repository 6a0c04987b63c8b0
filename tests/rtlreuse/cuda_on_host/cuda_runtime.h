// As much of CUDA's runtime as generated programs use, on the host: a kernel is a loop over its threads, forwards and
// backwards in turn, so that threads which depend on each other give other outputs. Streams do everything at once.
#pragma once
#include <functional>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define __global__ static
#define __device__
#define __launch_bounds__(n)
struct Place { int x; };
static Place blockIdx, threadIdx, gridDim{1}, blockDim{1};

enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaStreamCaptureModeThreadLocal, cudaEventDisableTiming, cudaHostRegisterDefault };
typedef int cudaStream_t, cudaEvent_t;
typedef std::vector<std::function<void()>>*cudaGraph_t, *cudaGraphExec_t;
static cudaGraph_t captured;

template <class Kernel> static void launch(int blocks, int threads, Kernel kernel) {
  const auto run = [=] {
    static bool is_backwards;
    is_backwards = !is_backwards;
    gridDim.x = blocks, blockDim.x = threads;
    for (int i = 0, n = blocks * threads; i < n; i++) {
      const int t = is_backwards ? n - 1 - i : i;
      blockIdx.x = t / threads, threadIdx.x = t % threads;
      kernel();
    }
  };
  captured ? captured->push_back(run) : run();
}
static void atomicAdd(unsigned long long* to, unsigned long long x) { *to += x; }

static const char* cudaGetErrorName(cudaError_t) { return ""; }
static const char* cudaGetErrorString(cudaError_t) { return ""; }
static cudaError_t cudaGetLastError() { return cudaSuccess; }
template <class T> static cudaError_t cudaMalloc(T** to, size_t size) {
  *to = (T*)aligned_alloc(256, (size + 255) / 256 * 256);
  memset((void*)*to, 0xa5, size);
  return cudaSuccess;
}
static cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t) {
  if (captured) abort();
  memcpy(to, from, size);
  return cudaSuccess;
}
static cudaError_t cudaStreamCreate(cudaStream_t*) { return cudaSuccess; }
static cudaError_t cudaStreamSynchronize(cudaStream_t) { return captured ? abort(), cudaSuccess : cudaSuccess; }
static cudaError_t cudaStreamBeginCapture(cudaStream_t, int) {
  captured = new std::vector<std::function<void()>>;
  return cudaSuccess;
}
static cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = captured;
  captured = 0;
  return cudaSuccess;
}
static cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* to, cudaGraph_t graph, int) {
  *to = new std::vector<std::function<void()>>(*graph);
  return cudaSuccess;
}
static cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
static cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& kernel : *graph) kernel();
  return cudaSuccess;
}
static cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, int) { return cudaSuccess; }
static cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
static cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
static cudaError_t cudaHostRegister(void*, size_t, int) { return cudaSuccess; }
