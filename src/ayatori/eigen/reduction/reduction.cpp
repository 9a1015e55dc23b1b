#include "ayatori/eigen/reduction/reduction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/reduction/bulge_chasing.hpp"

namespace ayatori::eigen {

namespace {

template <class T>
class OneStage final : public ReducedOf<T> {
 public:
  OneStage(DenseOf<T>& a, std::int64_t block) : a_(a), block_(block), t_(tridiagonalize(a, block)) {}
  const TridiagonalOf<T>& tridiagonal() const override { return t_; }
  void back_transform(BlockOf<T> z) const override { eigen::back_transform<T>(a_, t_.tau, 1, block_, z); }

 private:
  const DenseOf<T>& a_;
  std::int64_t block_;
  TridiagonalOf<T> t_;
};

template <class T>
class TwoStages final : public ReducedOf<T> {
 public:
  TwoStages(DenseOf<T>& a, std::int64_t block, bool vectors)
      : a_(a), width_(std::max<std::int64_t>(1, std::min(block, a.order() - 1))) {
    BandReduction<T> reduction = reduce_to_band(a, width_);
    tau_ = std::move(reduction.tau);
    chase_ = chase(a.grid.all, reduction.band, vectors);
  }
  const TridiagonalOf<T>& tridiagonal() const override { return chase_.tridiagonal; }
  void back_transform(BlockOf<T> z) const override {
    apply_chase(a_.grid.all, chase_, z);
    eigen::back_transform<T>(a_, tau_, width_, width_, z);
  }

 private:
  const DenseOf<T>& a_;
  std::int64_t width_;
  std::vector<T> tau_;
  ChaseOf<T> chase_;
};

template <class T>
std::unique_ptr<ReducedOf<T>> by_one_stage(DenseOf<T>& a, std::int64_t block, bool) {
  return std::make_unique<OneStage<T>>(a, block);
}

template <class T>
std::unique_ptr<ReducedOf<T>> by_two_stages(DenseOf<T>& a, std::int64_t block, bool vectors) {
  return std::make_unique<TwoStages<T>>(a, block, vectors);
}

template <class T>
constexpr ReductionOf<T> list[] = {
    {"one-stage", "Householder, a column at a time; half of it products with vectors", false,
     by_one_stage<T>},
    {"two-stage", "to a band by products of matrices, then by chasing bulges; vectors go back twice", false,
     by_two_stages<T>},
};

}  // namespace

template <class T>
std::span<const ReductionOf<T>> reductions() {
  return list<T>;
}

template <class T>
const ReductionOf<T>& find_reduction(std::string_view name, int ranks) {
  std::string names;
  for (const ReductionOf<T>& reduction : list<T>) {
    if (reduction.name == name) {
      if (!reduction.one_rank_only || ranks == 1) return reduction;
      throw InputError(fmt::format("reduction {}: for one rank only, not {}", name, ranks));
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", reduction.name);
  }
  throw InputError(fmt::format("reduction '{}': there are {}", name, names));
}

template std::span<const ReductionOf<double>> reductions();
template const ReductionOf<double>& find_reduction(std::string_view name, int ranks);
template std::span<const ReductionOf<float>> reductions();
template const ReductionOf<float>& find_reduction(std::string_view name, int ranks);

}  // namespace ayatori::eigen
