#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"
#include "ayatori/solvers/preconditioners/saddle/rectangular.hpp"

// The blocks of a saddle point as operators, and what stands for A^-1. S = E - B2 A^-1 B1.

namespace ayatori::solvers::saddle {

struct Operators {
  comm::Comm comm;
  std::unique_ptr<const sparse::DistributedMatrix> a;
  Array<double> inverse_diagonal;  ///< inverse of A's diagonal, which is D
  Rectangular b1;
  Rectangular b2;
  std::optional<Rectangular> e;                        ///< none where it is zero
  double sign;                                         ///< sign of the diagonal of E - B2 D^-1 B1
  std::unique_ptr<const sparse::DistributedMatrix> t;  ///< sign (E - B2 D^-1 B1)
};

/// Collective. Takes the blocks but for their partitions. Throws InputError (agreed), beginning with `who`.
std::unique_ptr<Operators> make_operators(const comm::Comm& comm, Blocks& blocks, std::string_view who);

/// Collective. A vector of zeros with this many elements on this rank.
Array<double> zeros(const comm::Comm& comm, std::int64_t size);

/// Collective. A vector for this matrix of random numbers in [-1, 1), the same on any number of ranks.
Array<double> random_numbers(const sparse::DistributedMatrix& matrix);

/// Collective. The sum of all elements.
double total(const comm::Comm& comm, std::span<const double> x);

/// Collective. A V-cycle for a block of one field, as the option table has it for a matrix.
BuiltPreconditioner make_cycle(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options);

/// What stands for A^-1, and what S is like with it.
struct PrimalInverse {
  BuiltPreconditioner v;
  int cycles;  ///< V-cycles in an application, one after the other; 0: v is D^-1
  /// Whether S nearly annihilates the constant vector 1, as where all but one of the pressures of a closed
  /// box are left, or does so.
  bool has_level = false;
  double energy = 0;     ///< then, 1^T sign S 1; 0: S does annihilate it
  Array<double> pushed;  ///< then, V B1 1
};

/// Collective. D^-1, or V-cycles: one, or two where A is unsymmetric.
std::shared_ptr<const PrimalInverse> invert_by_diagonal(const Operators& of);
std::shared_ptr<const PrimalInverse> invert_by_cycles(const Operators& of,
                                                      const PreconditionerOptions& options);

/// sign (E - B2 V B1). Refers to both.
class SchurComplement final : public sparse::LinearOperator {
 public:
  SchurComplement(const Operators& of, const sparse::LinearOperator& v);

  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return of_.t->local_size(); }

 private:
  const Operators& of_;
  const sparse::LinearOperator& v_;
  mutable Array<double> first_;
  mutable Array<double> second_;
  mutable Array<double> sums_;  ///< E x
};

/// y = weight x
class Diagonal final : public sparse::LinearOperator {
 public:
  explicit Diagonal(Array<double> weight) : weight_(std::move(weight)) {}

  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return static_cast<std::int32_t>(weight_.size()); }

 private:
  Array<double> weight_;
};

}  // namespace ayatori::solvers::saddle
