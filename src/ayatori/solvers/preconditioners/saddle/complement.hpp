#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/solvers/preconditioners/saddle/operators.hpp"

// Stand-ins for the inverse of a saddle point's Schur complement.

namespace ayatori::solvers::saddle {

/// What the stand-ins of a matrix have in common, made when it is first asked for.
class Ingredients {
 public:
  Ingredients(const Operators& operators, const PreconditionerOptions& options)
      : of(operators), options_(options) {}

  /// Collective. D^-1 or V-cycles for A.
  const std::shared_ptr<const PrimalInverse>& primal_inverse(bool by_diagonal);
  /// Collective. A V-cycle for T.
  std::shared_ptr<const sparse::LinearOperator> cycle_for_t();
  const std::vector<std::string>& notes_of_t() const { return notes_of_t_; }

  const Operators& of;

 private:
  const PreconditionerOptions& options_;
  std::shared_ptr<const PrimalInverse> by_diagonal_;
  std::shared_ptr<const PrimalInverse> by_cycles_;
  std::shared_ptr<const sparse::LinearOperator> cycle_for_t_;
  std::vector<std::string> notes_of_t_;
};

/// An entry in the list of stand-ins. `make` is collective and gives an operator near (sign S)^-1, definite
/// where K is symmetric, which refers to the ingredients' operators; `v` is near A^-1.
struct Complement {
  std::string_view name;
  bool by_diagonal;      ///< D^-1 stands for A^-1 all over, where others have V-cycles
  int cycles_for_t;      ///< V-cycles for T in an application
  bool multiplies_by_a;  ///< and by B1 and B2, in an application
  std::shared_ptr<const sparse::LinearOperator> (*make)(Ingredients& from, const sparse::LinearOperator& v);
};

/// diagonals, constraint, diagonal, simple, commutator. Adding one is a file in complements/ and a line in
/// its list.cpp.
std::span<const Complement> complements();

/// An operator near (sign S)^-1: some `inner` one; where there is a level, P inner P + 1 1^T / energy, P
/// being the projection to vectors of zero sum. A level of the order of the number of unknowns stays out of
/// the arithmetic of inner operators, which are in float.
class ComplementInverse final : public sparse::LinearOperator {
 public:
  ComplementInverse(const Operators& of, std::shared_ptr<const PrimalInverse> primal,
                    std::shared_ptr<const sparse::LinearOperator> inner);

  /// Collective. y + level 1 is this operator times x; the level is given.
  double apply_apart(std::span<const double> x, std::span<double> y) const;
  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return inner_->local_size(); }

  const PrimalInverse& primal() const { return *primal_; }

 private:
  const Operators& of_;
  std::shared_ptr<const PrimalInverse> primal_;
  std::shared_ptr<const sparse::LinearOperator> inner_;
  mutable Array<double> projected_;
};

/// Collective. The stand-in with the inverse of A that goes with it.
std::unique_ptr<const ComplementInverse> make_complement(const Complement& kind, Ingredients& from);

}  // namespace ayatori::solvers::saddle
