#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "ayatori/gpu/cuda/launch.cuh"
#include "ayatori/gpu/devices.hpp"
#include "ayatori/gpu/failure.hpp"
#include "ayatori/gpu/host_copy.hpp"

namespace ayatori::gpu {

namespace cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // one that is reported is not to come again
  throw_failure(std::string("the device could not ") + what + ": " + cudaGetErrorString(status));
}

namespace {

class Graph final : public Recording {
 public:
  Graph(cudaGraph_t graph, cudaStream_t stream) : stream_(stream) {
    const cudaError_t status = cudaGraphInstantiate(&ready_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "prepare recorded work");
  }
  ~Graph() override { cudaGraphExecDestroy(ready_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() override { check(cudaGraphLaunch(ready_, stream_), "start recorded work"); }

 private:
  cudaGraphExec_t ready_ = nullptr;
  cudaStream_t stream_;
};

/// Two pieces of memory that the device reaches directly, through which the rest goes: one is filled or
/// emptied by the processor while the other travels.
class Staging {
 public:
  static constexpr std::size_t piece = std::size_t{8} << 20;

  explicit Staging(cudaStream_t stream) : stream_(stream) {
    for (int i = 0; i < 2; ++i) {
      check(cudaMallocHost(&memory_[i], piece), "pin memory");
      check(cudaEventCreateWithFlags(&travelled_[i], cudaEventDisableTiming), "make an event");
    }
  }
  ~Staging() {
    for (int i = 0; i < 2; ++i) {
      cudaEventDestroy(travelled_[i]);
      cudaFreeHost(memory_[i]);
    }
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void copy_in(char* to, const char* from, std::size_t bytes) {
    for (std::size_t at = 0, turn = 0; at < bytes; at += piece, ++turn) {
      const int i = static_cast<int>(turn % 2);
      const std::size_t length = std::min(piece, bytes - at);
      if (turn >= 2) wait(i);
      copy_by_threads(memory_[i], from + at, length);
      send(to + at, memory_[i], length, cudaMemcpyHostToDevice, i);
    }
    wait(0);
    wait(1);
  }
  void copy_out(char* to, const char* from, std::size_t bytes) {
    const auto ask = [&](std::size_t at, int i) {
      if (at < bytes) send(memory_[i], from + at, std::min(piece, bytes - at), cudaMemcpyDeviceToHost, i);
    };
    ask(0, 0);
    for (std::size_t at = 0, turn = 0; at < bytes; at += piece, ++turn) {
      const int i = static_cast<int>(turn % 2);
      ask(at + piece, 1 - i);
      wait(i);
      copy_by_threads(to + at, memory_[i], std::min(piece, bytes - at));
    }
  }

 private:
  void send(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, int i) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy memory");
    check(cudaEventRecord(travelled_[i], stream_), "note a copy");
  }
  void wait(int i) { check(cudaEventSynchronize(travelled_[i]), "copy memory"); }

  cudaStream_t stream_;
  void* memory_[2] = {};
  cudaEvent_t travelled_[2] = {};
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number) {
    int devices = 1;
    check(cudaGetDeviceCount(&devices), "be counted");
    number %= devices;
    check(cudaSetDevice(number), "be opened");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number), "tell what it is");
    name_ = properties.name;
    multiprocessors_ = properties.multiProcessorCount;
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
    // What is given back stays with this process, so that memory costs little after the first time.
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, number), "find its memory");
    std::uint64_t all = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep its memory");
    const std::size_t sums = sizeof(double) * most_sums * blocks_each * multiprocessors_;
    partial_ = static_cast<double*>(allocate(sums));
    arrived_ = static_cast<unsigned*>(allocate(sizeof(unsigned)));
    set_zero(arrived_, sizeof(unsigned));
    synchronize();
  }
  ~CudaDevice() override {
    staging_.reset();
    release(partial_);
    release(arrived_);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string name() const override { return name_; }
  std::int64_t free_bytes() const override {
    std::size_t left = 0, all = 0;
    check(cudaMemGetInfo(&left, &all), "tell how much memory is left");
    return static_cast<std::int64_t>(left);
  }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream_), "allocate memory");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFreeAsync(memory, stream_); }

  void copy_in(void* to, const void* from, std::size_t bytes) override {
    if (bytes > least_staged)
      return staging().copy_in(static_cast<char*>(to), static_cast<const char*>(from), bytes);
    copy_between(to, from, bytes, cudaMemcpyHostToDevice);
    synchronize();
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    if (bytes > least_staged)
      return staging().copy_out(static_cast<char*>(to), static_cast<const char*>(from), bytes);
    copy_between(to, from, bytes, cudaMemcpyDeviceToHost);
    synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    copy_between(to, from, bytes, cudaMemcpyDeviceToDevice);
  }
  void set_zero(void* memory, std::size_t bytes) override {
    check(cudaMemsetAsync(memory, 0, bytes, stream_), "clear memory");
  }
  void synchronize() override { check(cudaStreamSynchronize(stream_), "finish its work"); }

  void run(const VectorStep& step, std::int32_t n) override {
    cuda::run(launch(), step, n);
    if (add_other_ranks(step)) cuda::finish(launch(), step);
  }
  void multiply(const MatrixView<double>& a, const double* x, const ProductStep<double>& step) override {
    cuda::multiply(launch(), a, x, step);
    if (add_other_ranks(step)) cuda::finish_product<double>(launch(), step);
  }
  void multiply(const MatrixView<float>& a, const float* x, const ProductStep<float>& step) override {
    cuda::multiply(launch(), a, x, step);
  }

  std::unique_ptr<Recording> record(const std::function<void()>& work) override {
    if (sum_) return std::make_unique<Repetition>(work);
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "record work");
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "record work");
    return std::make_unique<Graph>(graph, stream_);
  }

 private:
  /// Shorter copies the driver makes itself.
  static constexpr std::size_t least_staged = std::size_t{1} << 20;

  Staging& staging() {
    if (!staging_) staging_.emplace(stream_);
    return *staging_;
  }
  Launch launch() const { return {stream_, multiprocessors_, partial_, arrived_, !sum_}; }
  void copy_between(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy memory");
  }
  /// Whether the step has sums that are to be finished now.
  template <class Steps>
  bool add_other_ranks(const Steps& step) {
    const int sums = std::visit([](const auto& s) { return s.sum_count; }, step);
    if (!sum_ || sums == 0) return false;
    std::array<double, most_sums> total{};
    copy_out(total.data(), partial_, sums * sizeof(double));
    sum_(std::span(total.data(), sums));
    copy_in(partial_, total.data(), sums * sizeof(double));
    return true;
  }

  std::string name_;
  std::optional<Staging> staging_;
  int multiprocessors_ = 1;
  cudaStream_t stream_ = nullptr;
  double* partial_ = nullptr;
  unsigned* arrived_ = nullptr;
};

std::string why_not() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  cudaGetLastError();
  if (status != cudaSuccess) return std::string("no device: ") + cudaGetErrorString(status);
  return devices > 0 ? "" : "no device: none is visible";
}

}  // namespace

}  // namespace cuda

const DeviceType cuda_device{.name = "cuda",
                             .description = "an NVIDIA GPU",
                             .why_not = cuda::why_not,
                             .open = [](int number) -> std::unique_ptr<Device> {
                               if (const std::string why = cuda::why_not(); !why.empty()) throw_failure(why);
                               return std::make_unique<cuda::CudaDevice>(number);
                             }};

}  // namespace ayatori::gpu
