#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"
#include "ayatori/solvers/preconditioners/saddle/complement.hpp"
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

class Schur final : public sparse::LinearOperator {
 public:
  Schur(Form form, const saddle::Fields& fields, saddle::Blocks blocks,
        std::unique_ptr<const saddle::Operators> operators,
        std::unique_ptr<const saddle::ComplementInverse> complement)
      : form_(form),
        sign_(fields.sign),
        primal_rows_(std::move(blocks.primal_rows)),
        constraint_rows_(std::move(blocks.constraint_rows)),
        of_(std::move(operators)),
        complement_(std::move(complement)) {
    for (Array<double>* vector : {&primal_, &pushed_}) vector->assign(primal_rows_.size(), 0.0);
    for (Array<double>* vector : {&constraint_, &pressure_}) vector->assign(constraint_rows_.size(), 0.0);
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    gather(x, primal_rows_, primal_);
    gather(x, constraint_rows_, constraint_);
    if (form_ == Form::definite) {
      complement_->apply(constraint_, pressure_);
      of_->v.op->apply(primal_, pushed_);
      // What shall be definite has no sign.
      scatter(pushed_, primal_rows_, y, 1);
      scatter(pressure_, constraint_rows_, y, 1);
      return;
    }
    if (of_->cycles == 0) {
      of_->v.op->apply(primal_, pushed_);
      of_->b2.apply(pushed_, pressure_);
      parallel_for(std::ssize(pressure_), [&](std::int64_t i) { constraint_[i] -= pressure_[i]; });
    }
    const double level = of_->sign * complement_->apply_apart(constraint_, pressure_);
    parallel_for(std::ssize(pressure_), [&](std::int64_t i) { pressure_[i] *= of_->sign; });
    of_->b1.apply(pressure_, pushed_);
    parallel_for(std::ssize(primal_), [&](std::int64_t i) { primal_[i] -= pushed_[i]; });
    of_->v.op->apply(primal_, pushed_);
    if (level != 0) {
      axpy(-level, of_->pushed, pushed_);
      parallel_for(std::ssize(pressure_), [&](std::int64_t i) { pressure_[i] += level; });
    }
    scatter(pushed_, primal_rows_, y, sign_);
    scatter(pressure_, constraint_rows_, y, sign_);
  }
  std::int32_t local_size() const override {
    return static_cast<std::int32_t>(primal_rows_.size() + constraint_rows_.size());
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
  double sign_;
  Array<std::int32_t> primal_rows_;
  Array<std::int32_t> constraint_rows_;
  std::unique_ptr<const saddle::Operators> of_;
  std::unique_ptr<const saddle::ComplementInverse> complement_;
  mutable Array<double> primal_;
  mutable Array<double> pushed_;
  mutable Array<double> constraint_;
  mutable Array<double> pressure_;
};

BuiltPreconditioner build(Form form, std::string_view who, const sparse::DistributedMatrix& matrix,
                          const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  if (options.complement != "auto" && !saddle::is_approximation(options.complement))
    throw_error(ErrorKind::bad_input,
                fmt::format("{}: complement = {}, want auto, diagonal, simple, commutator or constraint", who,
                            options.complement),
                true);
  const saddle::Fields fields = saddle::find_fields(matrix, options.fields, who);
  saddle::Blocks blocks = saddle::split_into_blocks(matrix, fields);
  auto operators = saddle::make_operators(comm, blocks, who, options);
  auto complement = saddle::approximate_complement(*operators, options);
  BuiltPreconditioner built;
  built.notes.push_back(fmt::format("{} constraints on {} unknowns, Schur complement: {}",
                                    blocks.constraint.rows(), blocks.primal.rows(), complement.name));
  if (operators->has_level) built.notes.emplace_back("the level of the constraints is treated apart");
  for (auto* notes : {&complement.notes, &operators->v.notes})
    built.notes.insert(built.notes.end(), notes->begin(), notes->end());
  built.op = comm::agree(comm, [&] {
    return std::make_unique<Schur>(form, fields, std::move(blocks), std::move(operators),
                                   std::move(complement.op));
  });
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
