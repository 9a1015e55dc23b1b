#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"
#include "ayatori/solvers/preconditioners/saddle/choice.hpp"
#include "ayatori/solvers/vector_ops.hpp"

// Preconditioners by the blocks of a saddle point (Elman, Silvester & Wathen, Finite Elements and Fast
// Iterative Solvers, ch. 4 and 9; Benzi, Golub & Liesen, Acta Numerica 14, 2005; constraint preconditioners:
// Keller, Gould & Wathen, SIAM J. Matrix Anal. Appl. 21, 2000).

namespace ayatori::solvers {

namespace {

enum class Form {
  triangular,  ///< (A B1; 0 S)^-1, or (D B1; B2 E)^-1 as a constraint preconditioner
  definite,    ///< diag(A, sign S)^-1
};

/// Whose name this is; none for "auto". Throws InputError, beginning with `who`.
const saddle::Complement* find_complement(std::string_view name, std::string_view who) {
  if (name == "auto") return nullptr;
  std::string names;
  for (const saddle::Complement& one : saddle::complements()) {
    if (one.name == name) return &one;
    names += fmt::format(", {}", one.name);
  }
  throw_error(ErrorKind::bad_input, fmt::format("{}: complement = {}, want auto{}", who, name, names), true);
}

/// What every preconditioner by blocks of a matrix refers to.
struct Split {
  double sign;  ///< sign of K
  Array<std::int32_t> primal_rows;
  Array<std::int32_t> constraint_rows;
  std::unique_ptr<const saddle::Operators> of;
};

class Schur final : public sparse::LinearOperator {
 public:
  Schur(Form form, std::shared_ptr<const Split> split,
        std::unique_ptr<const saddle::ComplementInverse> complement)
      : form_(form), split_(std::move(split)), complement_(std::move(complement)) {
    for (Array<double>* vector : {&primal_, &pushed_}) vector->assign(split_->primal_rows.size(), 0.0);
    for (Array<double>* vector : {&constraint_, &pressure_})
      vector->assign(split_->constraint_rows.size(), 0.0);
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    const saddle::Operators& of = *split_->of;
    const saddle::PrimalInverse& inverse = complement_->primal();
    gather(x, split_->primal_rows, primal_);
    gather(x, split_->constraint_rows, constraint_);
    if (form_ == Form::definite) {
      complement_->apply(constraint_, pressure_);
      inverse.v.op->apply(primal_, pushed_);
      // What shall be definite has no sign.
      scatter(pushed_, split_->primal_rows, y, 1);
      scatter(pressure_, split_->constraint_rows, y, 1);
      return;
    }
    if (inverse.cycles == 0) {
      inverse.v.op->apply(primal_, pushed_);
      of.b2.apply(pushed_, pressure_);
      parallel_for(std::ssize(pressure_), [&](std::int64_t i) { constraint_[i] -= pressure_[i]; });
    }
    const double level = of.sign * complement_->apply_apart(constraint_, pressure_);
    parallel_for(std::ssize(pressure_), [&](std::int64_t i) { pressure_[i] *= of.sign; });
    of.b1.apply(pressure_, pushed_);
    parallel_for(std::ssize(primal_), [&](std::int64_t i) { primal_[i] -= pushed_[i]; });
    inverse.v.op->apply(primal_, pushed_);
    if (level != 0) {
      axpy(-level, inverse.pushed, pushed_);
      parallel_for(std::ssize(pressure_), [&](std::int64_t i) { pressure_[i] += level; });
    }
    scatter(pushed_, split_->primal_rows, y, split_->sign);
    scatter(pressure_, split_->constraint_rows, y, split_->sign);
  }
  std::int32_t local_size() const override {
    return static_cast<std::int32_t>(split_->primal_rows.size() + split_->constraint_rows.size());
  }

 private:
  static void gather(std::span<const double> x, const Array<std::int32_t>& rows, Array<double>& part) {
    parallel_for(std::ssize(rows), [&](std::int64_t i) { part[i] = x[rows[i]]; });
  }
  static void scatter(const Array<double>& part, const Array<std::int32_t>& rows, std::span<double> y,
                      double factor) {
    parallel_for(std::ssize(rows), [&](std::int64_t i) { y[rows[i]] = factor * part[i]; });
  }

  Form form_;
  std::shared_ptr<const Split> split_;
  std::unique_ptr<const saddle::ComplementInverse> complement_;
  mutable Array<double> primal_;
  mutable Array<double> pushed_;
  mutable Array<double> constraint_;
  mutable Array<double> pressure_;
};

BuiltPreconditioner build(Form form, std::string_view who, const sparse::DistributedMatrix& matrix,
                          const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  const saddle::Complement* asked = find_complement(options.complement, who);
  const saddle::Fields fields = saddle::find_fields(matrix, options.fields, who);
  saddle::Blocks blocks = saddle::split_into_blocks(matrix, fields);
  std::unique_ptr<const saddle::Operators> operators = saddle::make_operators(comm, blocks, who);
  const auto split = comm::agree(comm, [&] {
    return std::make_shared<const Split>(Split{fields.sign, std::move(blocks.primal_rows),
                                               std::move(blocks.constraint_rows), std::move(operators)});
  });
  saddle::Ingredients ingredients(*split->of, options);
  saddle::Choice choice;
  if (asked) {
    choice.complement = asked;
  } else {
    choice = saddle::choose_complement(matrix, ingredients);
  }
  BuiltPreconditioner built;
  auto complement = saddle::make_complement(*choice.complement, ingredients);
  const saddle::PrimalInverse& primal = complement->primal();
  built.notes.push_back(fmt::format("{} constraints on {} unknowns, Schur complement: {}",
                                    blocks.constraint.rows(), blocks.primal.rows(), choice.complement->name));
  if (primal.has_level) built.notes.emplace_back("the level of the constraints is treated apart");
  if (choice.complement->cycles_for_t > 0)
    built.notes.insert(built.notes.end(), ingredients.notes_of_t().begin(), ingredients.notes_of_t().end());
  built.notes.insert(built.notes.end(), choice.notes.begin(), choice.notes.end());
  built.notes.insert(built.notes.end(), primal.v.notes.begin(), primal.v.notes.end());
  built.op = comm::agree(comm, [&] { return std::make_unique<Schur>(form, split, std::move(complement)); });
  return built;
}

BuiltPreconditioner make_triangular(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                                    const PreconditionerOptions& options) {
  return build(Form::triangular, "schur", matrix, options);
}

BuiltPreconditioner make_definite(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                                  const PreconditionerOptions& options) {
  return build(Form::definite, "schur-definite", matrix, options);
}

}  // namespace

const Preconditioner schur_preconditioner{
    .name = "schur",
    .description = "saddle points: block triangular, with multigrid and a Schur complement's stand-in",
    .symmetric = false,
    .make = make_triangular,
    .obeys = {.complement = true},
    .for_saddle_points = true};

const Preconditioner schur_definite_preconditioner{
    .name = "schur-definite",
    .description = "symmetric saddle points: block diagonal and positive definite, for minres",
    .symmetric = true,
    .make = make_definite,
    .obeys = {.complement = true},
    .for_saddle_points = true};

}  // namespace ayatori::solvers
