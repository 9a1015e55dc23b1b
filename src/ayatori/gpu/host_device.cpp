#include <algorithm>
#include <array>
#include <cstring>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/gpu/devices.hpp"

namespace ayatori::gpu {

namespace {

/// The processor in the place of a device: the same steps and formats, row by row in one thread.
class HostDevice final : public Device {
 public:
  std::string name() const override { return "host"; }
  std::int64_t free_bytes() const override { return std::int64_t{1} << 30; }

  void* allocate(std::size_t bytes) override {
    try {
      return ::operator new(bytes);
    } catch (const std::bad_alloc&) {
      throw EnvironmentError(fmt::format("no memory for {} bytes in the place of a device's", bytes));
    }
  }
  void release(void* memory) noexcept override { ::operator delete(memory); }
  void copy_in(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void set_zero(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
  void synchronize() override {}

  void run(const VectorStep& step, std::int32_t n) override {
    std::visit(
        [&](const auto& s) {
          sum_up(s, [&](double* sums) {
            for (std::int32_t i = 0; i < n; ++i) s.row(i, sums);
          });
        },
        step);
  }

  void multiply(const MatrixView<double>& a, const double* x, const ProductStep<double>& step) override {
    multiply_rows(a, x, step);
  }
  void multiply(const MatrixView<float>& a, const float* x, const ProductStep<float>& step) override {
    multiply_rows(a, x, step);
  }

  std::unique_ptr<Recording> record(const std::function<void()>& work) override {
    return std::make_unique<Repetition>(work);
  }

 private:
  template <class Step, class Rows>
  void sum_up(const Step& step, Rows&& rows) {
    std::array<double, std::max(Step::sum_count, 1)> sums{};
    rows(sums.data());
    if constexpr (Step::sum_count > 0) {
      if (sum_) sum_(std::span(sums.data(), Step::sum_count));
      step.finish(sums.data());
    }
  }

  template <class View, class Real, class Steps>
  void multiply_rows(const View& view, const Real* x, const Steps& steps) {
    std::visit(
        [&](const auto& a, const auto& step) {
          sum_up(step, [&](double* sums) {
            for (std::int32_t i = 0; i < a.rows; ++i) step.row(i, a.row(i, x), sums);
          });
        },
        view, steps);
  }
};

}  // namespace

const DeviceType host_device{
    .name = "host",
    .description = "the processor in the place of a device, for tests",
    .why_not = [] { return std::string(); },
    .open = [](int) -> std::unique_ptr<Device> { return std::make_unique<HostDevice>(); }};

}  // namespace ayatori::gpu
