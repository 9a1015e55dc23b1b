#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/device/preconditioners/types.hpp"
#include "ayatori/solvers/preconditioners/multigrid/amg.hpp"

namespace ayatori::solvers {

namespace {

/// A level in the device's memory, in single precision.
struct Level {
  Level(gpu::Device& device, const amg::LevelParts& parts)
      : matrix(gpu::make_matrix<float>(device, parts.matrix)), smoother(parts.smoother) {
    if (parts.prolongator.rows > 0) {
      prolongator = gpu::make_matrix<float>(device, parts.prolongator);
      restrictor = gpu::make_matrix<float>(device, parts.restrictor);
    }
    for (auto* vector : {&b, &x, &step, &other}) {
      *vector = {device, static_cast<std::size_t>(matrix.rows())};
      vector->set_zero();
    }
  }

  gpu::Matrix<float> matrix;
  gpu::Matrix<float> prolongator;
  gpu::Matrix<float> restrictor;
  ChebyshevTerms smoother;
  gpu::DeviceArray<float> b;
  gpu::DeviceArray<float> x;
  gpu::DeviceArray<float> step;
  gpu::DeviceArray<float> other;
};

/// The inverse of the coarsest grid's matrix as rows that have all elements.
sparse::Csr full_rows(const std::vector<double>& values) {
  std::int32_t n = 0;
  while (std::size_t(n) * n < values.size()) ++n;
  sparse::Csr full{.rows = n, .columns = n, .row_start = {}, .column = {}, .value = {}};
  full.row_start.resize(std::size_t(n) + 1);
  full.column.resize(values.size());
  full.value.assign(values.begin(), values.end());
  for (std::int32_t i = 0; i <= n; ++i) full.row_start[i] = std::int64_t{i} * n;
  for (std::size_t k = 0; k < values.size(); ++k) full.column[k] = static_cast<std::int32_t>(k % n);
  return full;
}

/// The V-cycle of multigrid/hierarchy.cpp, set up on the processor.
class Amg final : public DevicePreconditioner {
 public:
  Amg(gpu::Device& device, amg::HierarchyParts parts)
      : device_(device), rows_(static_cast<std::int32_t>(parts.scale.size())), scale_(device, parts.scale) {
    for (amg::LevelParts& level : parts.levels) {
      levels_.emplace_back(device, level);
      level = {};
    }
    if (parts.coarsest_inverse.empty()) return;
    const sparse::Csr inverse = full_rows(parts.coarsest_inverse);
    inverse_ = gpu::make_matrix<float>(device, inverse);
    for (auto* vector : {&coarsest_b_, &coarsest_x_}) {
      *vector = {device, static_cast<std::size_t>(inverse.rows)};
      vector->set_zero();
    }
  }

  void apply(const double* r, double* z) const override {
    device_.run(gpu::ScaleDown{scale_.data(), r, right_side(0)}, rows_);
    device_.run(gpu::ScaleUp{scale_.data(), cycle(0), z}, rows_);
  }

 private:
  float* right_side(std::size_t l) const {
    return l < levels_.size() ? levels_[l].b.data() : coarsest_b_.data();
  }

  /// The answer of grid l to its right-hand side.
  const float* cycle(std::size_t l) const {
    if (l == levels_.size()) {
      inverse_.multiply(coarsest_b_.data(), gpu::StoreProduct<float>{coarsest_x_.data()});
      return coarsest_x_.data();
    }
    const Level& level = levels_[l];
    float* x = level.x.data();
    float* other = level.other.data();
    const auto add_term = [&](double keep, double gain) {
      level.matrix.multiply(x, gpu::SmoothStep<float>{static_cast<float>(keep), static_cast<float>(gain),
                                                      nullptr, level.b.data(), x, level.step.data(), other});
      std::swap(x, other);
    };
    const auto smooth = [&] {
      add_term(0, level.smoother.first);
      for (const auto& [keep, gain] : level.smoother.later) add_term(keep, gain);
    };
    smooth_from_zero(level, add_term);
    if (level.prolongator.rows() == 0) {  // the coarsest, and too large to be inverted
      smooth();
      return x;
    }
    level.matrix.multiply(x, gpu::SubtractProduct<float>{level.b.data(), other});
    level.restrictor.multiply(other, gpu::StoreProduct<float>{right_side(l + 1)});
    level.prolongator.multiply(cycle(l + 1), gpu::AddProduct<float>{x});
    smooth();
    return x;
  }

  template <class AddTerm>
  void smooth_from_zero(const Level& level, AddTerm&& add_term) const {
    const auto first = static_cast<float>(level.smoother.first);
    const auto& later = level.smoother.later;
    float* x = level.x.data();
    if (later.empty()) {
      device_.run(gpu::Scale<float>{first, level.b.data(), x}, level.matrix.rows());
      return;
    }
    level.matrix.multiply(level.b.data(), gpu::SmoothFromZero<float>{first, static_cast<float>(later[0].keep),
                                                                     static_cast<float>(later[0].gain),
                                                                     level.b.data(), level.step.data(), x});
    for (std::size_t j = 1; j < later.size(); ++j) add_term(later[j].keep, later[j].gain);
  }

  gpu::Device& device_;
  std::int32_t rows_;
  gpu::DeviceArray<double> scale_;
  std::vector<Level> levels_;
  gpu::Matrix<float> inverse_;
  gpu::DeviceArray<float> coarsest_b_;
  gpu::DeviceArray<float> coarsest_x_;
};

BuiltDevicePreconditioner make(const DeviceMatrix& matrix, const GlobalSum&,
                               const PreconditionerOptions& options) {
  const sparse::DistributedMatrix& on_host = matrix.matrix();
  amg::HierarchyParts parts;
  BuiltPreconditioner built = make_amg(on_host, options, &parts);
  built.op.reset();
  return comm::agree(on_host.comm(), [&] {
    return BuiltDevicePreconditioner{std::make_unique<Amg>(matrix.device(), std::move(parts)),
                                     std::move(built.notes)};
  });
}

}  // namespace

const DevicePreconditionerType device_amg{
    .name = "amg", .make = make, .steps = 40, .matrices = 3, .on_several_ranks = false};

}  // namespace ayatori::solvers
