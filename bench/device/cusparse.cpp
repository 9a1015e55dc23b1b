#include <dlfcn.h>

#include <cstdlib>

#include "ayatori/base/error.hpp"
#include "ayatori/gpu/device.hpp"
#include "bench/device/device.hpp"

// cuSPARSE's generic interface, by its documented calls; opened when the program runs, so that nothing of it
// is needed to build.

namespace ayatori::bench::device {

namespace {

constexpr int index_32 = 2;
constexpr int real_64 = 1;

struct Library {
  void* handle = nullptr;
  std::string why;

  Library() {
    const char* named = std::getenv("AYATORI_CUSPARSE");
    for (const char* name : {named, "libcusparse.so.12", "libcusparse.so"})
      if (handle == nullptr && name != nullptr) handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) why = dlerror();
  }
  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const {
    auto* address = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, function));
    if (address == nullptr) throw EnvironmentError(fmt::format("{} is not in cuSPARSE", function));
    const int status = address(arguments...);
    if (status != 0) throw EnvironmentError(fmt::format("{} of cuSPARSE failed with {}", function, status));
  }
};

const Library& library() {
  static const Library opened;
  return opened;
}

}  // namespace

std::string Cusparse::why_not() {
  return library().why;
}

struct Cusparse::State {
  gpu::Device& device;
  gpu::DeviceArray<std::int32_t> row_start, column;
  gpu::DeviceArray<double> value;
  gpu::DeviceArray<unsigned char> buffer;
  void* handle = nullptr;
  void* matrix = nullptr;
  void* x = nullptr;
  void* y = nullptr;
  int algorithm;
  double one = 1, zero = 0;
};

Cusparse::Cusparse(gpu::Device& device, const sparse::Csr& a, int algorithm, const double* x, double* y)
    : state_(std::make_unique<State>(State{.device = device,
                                           .row_start = {},
                                           .column = {},
                                           .value = {},
                                           .buffer = {},
                                           .algorithm = algorithm})) {
  State& s = *state_;
  std::vector<std::int32_t> start;
  for (const std::int64_t k : a.row_start) start.push_back(static_cast<std::int32_t>(k));
  s.row_start = {device, std::span<const std::int32_t>(start)};
  s.column = {device, std::span<const std::int32_t>(a.column)};
  s.value = {device, std::span<const double>(a.value)};
  library().call("cusparseCreate", &s.handle);
  library().call("cusparseCreateCsr", &s.matrix, std::int64_t{a.rows}, std::int64_t{a.columns}, a.nonzeros(),
                 static_cast<void*>(s.row_start.data()), static_cast<void*>(s.column.data()),
                 static_cast<void*>(s.value.data()), index_32, index_32, 0, real_64);
  library().call("cusparseCreateDnVec", &s.x, std::int64_t{a.columns},
                 const_cast<void*>(static_cast<const void*>(x)), real_64);
  library().call("cusparseCreateDnVec", &s.y, std::int64_t{a.rows}, static_cast<void*>(y), real_64);
  std::size_t bytes = 0;
  library().call("cusparseSpMV_bufferSize", s.handle, 0, static_cast<const void*>(&s.one), s.matrix, s.x,
                 static_cast<const void*>(&s.zero), s.y, real_64, algorithm, &bytes);
  s.buffer = {device, bytes + 1};
  device.synchronize();
  library().call("cusparseSpMV_preprocess", s.handle, 0, static_cast<const void*>(&s.one), s.matrix, s.x,
                 static_cast<const void*>(&s.zero), s.y, real_64, algorithm,
                 static_cast<void*>(s.buffer.data()));
}

Cusparse::~Cusparse() {
  library().call("cusparseDestroySpMat", state_->matrix);
  library().call("cusparseDestroyDnVec", state_->x);
  library().call("cusparseDestroyDnVec", state_->y);
  library().call("cusparseDestroy", state_->handle);
}

void Cusparse::multiply() {
  State& s = *state_;
  library().call("cusparseSpMV", s.handle, 0, static_cast<const void*>(&s.one), s.matrix, s.x,
                 static_cast<const void*>(&s.zero), s.y, real_64, s.algorithm,
                 static_cast<void*>(s.buffer.data()));
}

void Cusparse::synchronize() {
  // Its work is in the default stream, which no call of ours waits for; a copy to the host by the driver
  // does.
  using Synchronize = int (*)();
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  static const auto wait =
      driver == nullptr ? nullptr : reinterpret_cast<Synchronize>(dlsym(driver, "cuCtxSynchronize"));
  if (wait == nullptr || wait() != 0) throw EnvironmentError("the driver could not wait for cuSPARSE");
}

}  // namespace ayatori::bench::device
