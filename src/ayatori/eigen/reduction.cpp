#include "ayatori/eigen/reduction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/back_transform.hpp"
#include "ayatori/eigen/bulge_chasing.hpp"

namespace ayatori::eigen {

namespace {

class OneStage final : public Reduced {
 public:
  OneStage(DistributedDense& a, std::int64_t block) : a_(a), block_(block), t_(tridiagonalize(a, block)) {}
  const Tridiagonal& tridiagonal() const override { return t_; }
  void back_transform(Block z) const override { eigen::back_transform(a_, t_.tau, 1, block_, z); }

 private:
  const DistributedDense& a_;
  std::int64_t block_;
  Tridiagonal t_;
};

class TwoStages final : public Reduced {
 public:
  TwoStages(DistributedDense& a, std::int64_t block, bool vectors)
      : a_(a), width_(std::max<std::int64_t>(1, std::min(block, a.order() - 1))) {
    BandReduction reduction = reduce_to_band(a, width_);
    tau_ = std::move(reduction.tau);
    chase_ = chase(a.grid.all, reduction.band, vectors);
  }
  const Tridiagonal& tridiagonal() const override { return chase_.tridiagonal; }
  void back_transform(Block z) const override {
    apply_chase(a_.grid.all, chase_, z);
    eigen::back_transform(a_, tau_, width_, width_, z);
  }

 private:
  const DistributedDense& a_;
  std::int64_t width_;
  std::vector<double> tau_;
  Chase chase_;
};

std::unique_ptr<Reduced> by_one_stage(DistributedDense& a, std::int64_t block, bool) {
  return std::make_unique<OneStage>(a, block);
}

std::unique_ptr<Reduced> by_two_stages(DistributedDense& a, std::int64_t block, bool vectors) {
  return std::make_unique<TwoStages>(a, block, vectors);
}

constexpr Reduction list[] = {
    {"one-stage", "Householder, a column at a time; half of it products with vectors", false, by_one_stage},
    {"two-stage", "to a band by products of matrices, then by chasing bulges; vectors go back twice", false,
     by_two_stages},
};

}  // namespace

std::span<const Reduction> reductions() {
  return list;
}

const Reduction& find_reduction(std::string_view name, int ranks) {
  std::string names;
  for (const Reduction& reduction : list) {
    if (reduction.name == name) {
      if (!reduction.one_rank_only || ranks == 1) return reduction;
      throw InputError(fmt::format("reduction {}: for one rank only, not {}", name, ranks));
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", reduction.name);
  }
  throw InputError(fmt::format("reduction '{}': there are {}", name, names));
}

}  // namespace ayatori::eigen
