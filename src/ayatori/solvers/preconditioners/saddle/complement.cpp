#include "ayatori/solvers/preconditioners/saddle/complement.hpp"

#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers::saddle {

const std::shared_ptr<const PrimalInverse>& Ingredients::primal_inverse(bool by_diagonal) {
  auto& inverse = by_diagonal ? by_diagonal_ : by_cycles_;
  if (!inverse) inverse = by_diagonal ? invert_by_diagonal(of) : invert_by_cycles(of, options_);
  return inverse;
}

std::shared_ptr<const sparse::LinearOperator> Ingredients::cycle_for_t() {
  if (!cycle_for_t_) {
    BuiltPreconditioner built = make_cycle(*of.t, options_);
    cycle_for_t_ = std::move(built.op);
    notes_of_t_ = std::move(built.notes);
  }
  return cycle_for_t_;
}

ComplementInverse::ComplementInverse(const Operators& of, std::shared_ptr<const PrimalInverse> primal,
                                     std::shared_ptr<const sparse::LinearOperator> inner)
    : of_(of),
      primal_(std::move(primal)),
      inner_(std::move(inner)),
      projected_(zeros(of.comm, primal_->has_level ? inner_->local_size() : 0)) {}

double ComplementInverse::apply_apart(std::span<const double> x, std::span<double> y) const {
  if (!primal_->has_level) {
    inner_->apply(x, y);
    return 0;
  }
  const auto size = static_cast<double>(of_.t->global_rows());
  const double sum = total(of_.comm, x);
  parallel_for(std::ssize(x), [&](std::int64_t i) { projected_[i] = x[i] - sum / size; });
  inner_->apply(projected_, y);
  const double mean = total(of_.comm, y) / size;
  parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] -= mean; });
  return primal_->energy != 0 ? sum / primal_->energy : 0;
}

void ComplementInverse::apply(std::span<const double> x, std::span<double> y) const {
  const double level = apply_apart(x, y);
  if (level != 0) parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] += level; });
}

std::unique_ptr<const ComplementInverse> make_complement(const Complement& kind, Ingredients& from) {
  auto primal = from.primal_inverse(kind.by_diagonal);
  auto inner = kind.make(from, *primal->v.op);
  return std::make_unique<const ComplementInverse>(from.of, std::move(primal), std::move(inner));
}

}  // namespace ayatori::solvers::saddle
