#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"
#include "ayatori/solvers/preconditioners/saddle/rectangular.hpp"

// The Schur complement of a saddle point, S = E - B2 A^-1 B1, and operators near its inverse.

namespace ayatori::solvers::saddle {

/// The blocks as operators, A^-1 being a V-cycle, or D^-1, D = diag(A), of a constraint preconditioner.
struct Operators {
  comm::Comm comm;
  std::unique_ptr<const sparse::DistributedMatrix> a;
  Array<double> inverse_diagonal;  ///< of A
  BuiltPreconditioner v;           ///< near A^-1: a V-cycle, D^-1,
  int cycles;                      ///< 0 then, or two cycles, one after the other
  Rectangular b1;
  Rectangular b2;
  std::optional<Rectangular> e;                        ///< none where it is zero
  double sign;                                         ///< of the diagonal of E - B2 D^-1 B1, D = diag(A)
  std::unique_ptr<const sparse::DistributedMatrix> t;  ///< sign (E - B2 D^-1 B1)
  /// Whether S nearly annihilates the constant vector 1, as where all but one of the pressures of a closed
  /// box are left, or does so.
  bool has_level = false;
  double energy = 0;     ///< then, 1^T sign S 1; 0: S does annihilate it
  Array<double> pushed;  ///< then, V B1 1
};

/// Collective. Takes the blocks but for their partitions. `v` is D^-1 where the complement asked for is
/// "constraint", or "auto" and a few iterations with D find A near it. Throws InputError (agreed), beginning
/// with `who`.
std::unique_ptr<Operators> make_operators(const comm::Comm& comm, Blocks& blocks, std::string_view who,
                                          const PreconditionerOptions& options);

/// An operator near (sign S)^-1, definite where K is symmetric: some `inner` one; where there is a level,
/// P inner P + 1 1^T / energy, P being the projection to vectors of zero sum. A level of the order of the
/// number of unknowns stays out of the arithmetic of inner operators, which are in float.
class ComplementInverse final : public sparse::LinearOperator {
 public:
  ComplementInverse(const Operators& of, std::shared_ptr<const sparse::LinearOperator> inner);

  /// Collective. y + level 1 is this operator times x; the level is given.
  double apply_apart(std::span<const double> x, std::span<double> y) const;
  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return inner_->local_size(); }

 private:
  const Operators& of_;
  std::shared_ptr<const sparse::LinearOperator> inner_;
  mutable Array<double> projected_;
};

struct Approximation {
  std::string name;
  std::unique_ptr<ComplementInverse> op;
  std::vector<std::string> notes;
};

/// Names of what there is beside a V-cycle for A. With D^-1 there is "constraint".
inline constexpr std::string_view approximations[] = {"diagonal", "simple", "commutator"};
bool is_approximation(std::string_view name);

/// Collective. The approximation that is asked for, or with "auto" the one that is measured to take the least
/// work per digit: a few iterations with sign (E - B2 V B1), which is near S, tell. Refers to the operators.
///
/// - diagonal: a multiple of diag(B2 D^-1 B1 - E)^-1, a stand-in for the pressure mass matrix of Stokes'
/// equations.
/// - simple: a V-cycle for T = B2 D^-1 B1 - E (Patankar & Spalding's SIMPLE).
/// - commutator: T^-1 (B2 D^-1 A D^-1 B1) T^-1 with such V-cycles (Elman, Howle, Shadid, Shuttleworth &
/// Tuminaro,
///   SIAM J. Sci. Comput. 27, 2006; its scaling by D: May & Moresi 2008).
/// - constraint: the V-cycle for T, which is S of D in place of A.
Approximation approximate_complement(const Operators& operators, const PreconditionerOptions& options);

}  // namespace ayatori::solvers::saddle
