#pragma once

#include <optional>
#include <string>

#include "ayatori/solvers/method.hpp"

namespace ayatori::solvers {

/// r = (b - A x) / unit with unit = ||b - A x||, which is returned. Where unit is 0, not finite or has no
/// finite inverse, r is left unscaled, and Monitor ends the method. Collective.
double scaled_residual(const System& system, ConstVector x, Vector r);

/// The first residual of a system that may be split.
struct FirstResidual {
  double unit;       ///< norm of the vector that is seen, by which the method scales its vectors
  double true_norm;  ///< norm of b - A x
};

/// The same as scaled_residual() where the system is not split; else r is the residual as it is seen, of norm
/// 1. Collective.
FirstResidual first_residual(const System& system, ConstVector x, Vector r);

class BestIterate;

/// Watches over a method: counts iterations, tells the progress, decides when to stop and why. The same on
/// every rank, as all that it sees is.
class Monitor {
 public:
  /// `unit`: norm of the first residual, by which the method has scaled its vectors.
  Monitor(const GlobalSum& sum, const MethodOptions& options, const Progress& progress, double unit);
  /// For a method that may solve split systems. Norms are those of the residuals seen; the true ones are
  /// measured whenever they seem to have shrunk much, or to meet the target.
  Monitor(const System& system, const MethodOptions& options, const Progress& progress, FirstResidual first);

  /// Ends an iteration that made `products` products with A and led to this norm, in units of the first
  /// residual; `r` has that norm, and is for systems that may be split: nothing where the norm has just been
  /// measured. Collective.
  void step(double scaled_norm, int products = 1, std::optional<ConstVector> r = {});
  /// Puts a recomputed norm, in units of the first residual, in the place of the one believed in so far.
  void correct(double scaled_norm);

  /// Where the method believes that it has converged, and MethodOptions::confirm knows better: r becomes the
  /// true residual, in units of the first, and the method goes on. Whether it is so; not where the true one
  /// is far off: then a new start is as good. Collective.
  bool resumes(Vector r, BestIterate& best);

  /// Stagnation is judged from here on only: the method goes on in another way.
  void give_more_time();

  /// Ends the method.
  void breakdown(std::string reason) { end(Stop::breakdown, std::move(reason)); }
  void proves_indefinite() { result_.indefinite = true; }
  /// Ends the method with a breakdown unless the value, named `what`, is finite. Whether it is.
  bool check_finite(double value, const char* what);
  void stagnated(std::string reason) { end(Stop::stagnated, std::move(reason)); }

  bool stopped() const { return stopped_; }
  bool meets_target(double scaled_norm) const { return true_norm(scaled_norm) <= options_.target; }
  /// The same, measured where it seems so and the system is split. Collective then.
  bool meets_target(double scaled_norm, ConstVector r);
  /// Whether an iteration as good as the last one would meet the target.
  bool expects_target() const { return result_.residual_norm * last_factor_ <= options_.target; }
  /// Whether this iteration is the last one, as far as can be told before it: no product is to be begun
  /// ahead.
  bool expects_end() const { return expects_target() || result_.iterations + 1 >= options_.max_iterations; }
  double unit() const { return unit_; }
  int iterations() const { return result_.iterations; }
  const MethodResult& result() const { return result_; }

 private:
  /// As far as it is known: exact where the system is not split.
  double true_norm(double scaled_norm) const { return scaled_norm * unit_ * true_share_; }
  void begin(double norm);
  void measure(double scaled_norm, ConstVector r);
  void note_measured(double scaled_true_norm, double scaled_norm);
  void end(Stop stop, std::string reason = {});
  void judge(double norm);
  bool has_stagnated(double norm);

  const MethodOptions& options_;
  const Progress& progress_;
  const GlobalSum& sum_;
  double unit_;
  const SplitForm* split_ = nullptr;
  double true_share_ = 1;     ///< true norm over that of the residual seen, when last measured, ...
  double measured_norm_ = 0;  ///< ... which was this
  double last_factor_ = 1;    ///< factor of the residual norm by the last iteration
  bool stopped_ = false;
  double mark_norm_;        ///< the norm when it last had shrunk by the stagnation factor ...
  int mark_iteration_ = 0;  ///< ... and the iteration then
  bool has_borne_a_rise_ = false;
  int refuted_ = 0;  ///< claims of convergence
  MethodResult result_;
};

/// The best x of a method whose residual norm rises and falls. It is copied only when it is about to be left
/// for a worse one: nothing while the norm falls.
class BestIterate {
 public:
  /// `store`: a work vector, written only when needed.
  BestIterate(Vector x, Vector store) : x_(x), store_(store) {}

  /// To be called before x changes; the norms belong to x now and then.
  void before_update(double next_norm);
  /// The norm that x has been found to have.
  void correct(double norm) { norm_ = norm; }
  /// Puts the best x back if it is not the last one. Returns its norm, in units of the first residual.
  double restore();

 private:
  Vector x_;
  Vector store_;
  double norm_ = 1;
  double stored_norm_ = -1;  ///< negative: nothing stored
};

}  // namespace ayatori::solvers
