#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/saddle/complements/complements.hpp"

// T^-1 (B2 D^-1 A D^-1 B1) T^-1 with V-cycles for T, the least-squares commutator (Elman, Howle, Shadid,
// Shuttleworth & Tuminaro, SIAM J. Sci. Comput. 27, 2006; its scaling by D: May & Moresi 2008).

namespace ayatori::solvers::saddle {

namespace {

/// Positive where S is negative with the sign of K's symmetric form.
class Commutator final : public sparse::LinearOperator {
 public:
  Commutator(const Operators& of, std::shared_ptr<const sparse::LinearOperator> inverse)
      : of_(of),
        inverse_(std::move(inverse)),
        first_(zeros(of.comm, of.a->local_size())),
        second_(zeros(of.comm, of.a->local_size())),
        third_(zeros(of.comm, of.t->local_size())) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    inverse_->apply(x, y);
    of_.b1.apply(y, first_);
    divide(first_);
    of_.a->apply(first_, second_);
    divide(second_);
    of_.b2.apply(second_, third_);
    parallel_for(std::ssize(third_), [&](std::int64_t i) { third_[i] *= -of_.sign; });
    inverse_->apply(third_, y);
  }
  std::int32_t local_size() const override { return of_.t->local_size(); }

 private:
  void divide(Array<double>& x) const {
    parallel_for(std::ssize(x), [&](std::int64_t i) { x[i] *= of_.inverse_diagonal[i]; });
  }

  const Operators& of_;
  std::shared_ptr<const sparse::LinearOperator> inverse_;
  mutable Array<double> first_;
  mutable Array<double> second_;
  mutable Array<double> third_;
};

std::shared_ptr<const sparse::LinearOperator> make(Ingredients& from, const sparse::LinearOperator&) {
  return std::make_shared<const Commutator>(from.of, from.cycle_for_t());
}

}  // namespace

const Complement commutator_complement{
    .name = "commutator", .by_diagonal = false, .cycles_for_t = 2, .multiplies_by_a = true, .make = make};

}  // namespace ayatori::solvers::saddle
