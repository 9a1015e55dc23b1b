#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::solvers {

/// A x = b with a preconditioner M that approximates the inverse of A, and the sum over ranks.
struct System {
  const sparse::LinearOperator& a;
  const sparse::LinearOperator& m;
  ConstVector b;
  const GlobalSum& sum;
  /// The real form of a complex system (sparse/complex_form.hpp), with an M that is linear in complex
  /// numbers, too: methods may take complex coefficients, which real ones are no match for.
  bool is_complex = false;
  /// M taken apart, if it was made from A: Method::takes_split methods then solve the split system.
  const SplitForm* split = nullptr;

  /// Collective. z = M x and w = A z, of the split system where it is one. Gives u, written to `store`, or z:
  /// what inner products with z are to be taken with.
  ConstVector apply_m_and_a(ConstVector x, Vector z, Vector w, Vector store = {}) const {
    if (split != nullptr) {
      split->apply(x, z, w, store);
      return store;
    }
    m.apply(x, z);
    a.apply(z, w);
    return z;
  }
};

/// A cycle of a restarted method, and what the next one will be like unless told otherwise.
struct Cycle {
  int length;                          ///< basis vectors built
  double before;                       ///< residual norm at the start
  double estimated;                    ///< at the end, as the recurrence has it ...
  double after;                        ///< ... and as it is
  int restart;                         ///< basis vectors of the next cycle, at most
  const Orthogonalize* orthogonalize;  ///< orthogonalization of the next cycle
};

struct MethodOptions {
  double target = 0;           ///< absolute 2-norm of the residual b - A x at which to stop
  int max_iterations = 10000;  ///< at most; an iteration is a product with A (BiCGSTAB makes
                               ///< two per step and completes the step)
  int restart = 30;            ///< basis vectors before GMRES and FGMRES restart
  /// Told of every cycle that did not end the method; may change `restart` and `orthogonalize` of the next. A
  /// cycle of no use ends the method unless the next is another one. All ranks must decide the same.
  std::function<void(Cycle& cycle)> next_cycle;
  /// Told after every iteration, beside the progress, by methods whose x waits for the end of a cycle:
  /// form(z) writes the iterate reached to z and changes nothing. Collective.
  std::function<void(const std::function<void(Vector z)>& form)> inside_cycle;
  /// Asked by methods whose residual follows from a recurrence when that meets the target, x being up to
  /// date: whether it is solved. If it is not, r must become the true b - A x, from which they may go on.
  /// None: the claim is the caller's to verify. Collective; all ranks must answer the same.
  std::function<bool(Vector r)> confirm;
  /// A method has stagnated when its residual has shrunk by less than this factor ...
  double stagnation_factor = 0.98;
  /// ... over this many iterations. Where it has risen meanwhile, it has as many again, once, to fall from
  /// there.
  int stagnation_window = 500;
};

/// How a method ended.
enum class Stop {
  converged,  ///< its own (recursive) residual met the target; the caller verifies
  max_iterations,
  stagnated,
  breakdown,    ///< the recurrence cannot go on; `reason` names what vanished
  interrupted,  ///< a rank asked to stop
  yielded,      ///< Progress asked it to
};
std::string_view name_of(Stop stop);

struct MethodResult {
  Stop stop = Stop::max_iterations;
  int iterations = 0;  ///< products with A, without those that compute b - A x anew at starts and restarts
  double residual_norm = 0;  ///< residual of the x returned, as the method believes; absolute, in the 2-norm
  std::string reason;        ///< reason of a breakdown or stagnation, in words with figures
  bool indefinite = false;   ///< it broke down as p^T A p was negative, by more than rounding explains
};

/// Told after every iteration: how many so far and the residual norm that the method believes in. False asks
/// the method to yield; all ranks must answer the same.
using Progress = std::function<bool(int iteration, double residual_norm)>;

/// Improves x, which holds a finite starting guess. Collective; all ranks return the same result. x ends as
/// the best iterate known, and finite, whatever the way it ended. Residuals are scaled by the norm of the
/// first, so that vectors of any magnitude do. Throws EnvironmentError (agreed) when memory for the work
/// vectors is missing.
using MethodFunction = MethodResult (*)(const System& system, Vector x, const MethodOptions& options,
                                        const Orthogonalize& orthogonalize, const Progress& progress);

/// An entry in the list of methods, with what must hold for it to apply.
struct Method {
  std::string_view name;
  std::string_view description;
  bool needs_symmetric;                 ///< A symmetric
  bool needs_definite;                  ///< A positive definite
  bool needs_symmetric_preconditioner;  ///< M symmetric positive definite
  bool restarts;                        ///< obeys MethodOptions::restart and the orthogonalization
  double
      traffic;  ///< doubles per row that an iteration moves beside A and M; restarted ones: for a basis of 30
  MethodFunction solve;
  std::string_view only_orthogonalization =
      {};                                ///< built in, until next_cycle() asks for another; empty: any
  bool takes_complex = false;            ///< has complex coefficients where the system is complex
  bool needs_complex_symmetric = false;  ///< A complex, A and M equal to their transposes
  bool takes_split = false;              ///< may solve System::split
};

/// Every method. Adding one is a file in methods/, its declaration in methods.hpp and its name in list.cpp.
std::span<const Method> methods();

/// The method of this name. Throws InputError that lists the names.
const Method& method(std::string_view name);

}  // namespace ayatori::solvers
