#include "ayatori/session/solve/linear_preconditioner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/session/solve/same_request.hpp"
#include "ayatori/solvers/complex_linear.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/tuning/policy/arms.hpp"

namespace ayatori::session {

namespace {

/// The part of an M on pairs that is linear in complex numbers: (M r - i M i r) / 2. It is symmetric positive
/// definite where M is, and takes two applications of it.
class ComplexLinearPart final : public sparse::LinearOperator {
 public:
  explicit ComplexLinearPart(std::unique_ptr<sparse::LinearOperator> m)
      : m_(std::move(m)), turned_(m_->local_size()), image_(m_->local_size()) {}

  void apply(std::span<const double> r, std::span<double> z) const override {
    constexpr solvers::Complex i{0, 1};
    solvers::copy(r, turned_);
    solvers::scale(i, solvers::as_complex(solvers::Vector(turned_)));
    m_->apply(turned_, image_);
    m_->apply(r, z);
    solvers::axpy(-i, solvers::as_complex(solvers::ConstVector(image_)), solvers::as_complex(z));
    solvers::scale(0.5, z);
  }
  std::int32_t local_size() const override { return m_->local_size(); }

 private:
  std::unique_ptr<sparse::LinearOperator> m_;
  mutable Array<double> turned_;
  mutable Array<double> image_;
};

}  // namespace

LinearPreconditioner::LinearPreconditioner(const comm::Comm& comm, const sparse::RowBlock& rows,
                                           const SolveRequest& request, RowFacts known)
    : comm_(comm), known_(std::move(known)), matrix_(comm, rows), sum_(comm) {
  const CallThreads threads(comm, request.threads);
  threads_ = threads.threads();
  comm::agree(comm, [&] {
    check(request);
    if (!known_.coordinates.empty() && std::ssize(known_.coordinates) != 3 * rows.rows())
      throw InputError("coordinates are for two or three rows per node, on every rank");
    options_ = tuning_options(request).preconditioner;
  });
  check_same(comm, request);
  options_.coordinates = known_.coordinates;
  options_.fields = known_.fields;
  options_.near_null_space = known_.near_null_space;
  const auto facts = tuning::examine(comm, matrix_.parts());
  tuning::tell(facts, options_);
  if (request.preconditioner != "auto") {
    name_ = request.preconditioner;
    why_ = "it was asked for";
    built_ = solvers::preconditioner(name_).make(matrix_, sum_, options_);
  } else {
    constexpr int any_restart = 30;
    tuning::Forced forced;
    forced.excluded = request.exclude;
    auto arms =
        comm::agree(comm, [&] { return tuning::list_arms(facts, forced, any_restart, request.rtol); });
    // What the application knows of the slow modes tells more than records of systems without that.
    const bool knows_modes = comm.any(!known_.coordinates.empty() || !known_.near_null_space.empty());
    const auto takes_modes = [](const tuning::ListedArm& arm) { return arm.choice.preconditioner == "amg"; };
    if (knows_modes) std::ranges::stable_partition(arms, takes_modes);
    for (const auto& arm : arms) {
      const auto& name = arm.choice.preconditioner;
      if (name == "none" || tuning::is_least_squares(arm.choice)) continue;
      if (facts.symmetric && !solvers::preconditioner(name).symmetric) continue;
      if (!build(name)) continue;
      why_ =
          knows_modes && takes_modes(arm)
              ? "it takes the coordinates or the near null space that are known"
              : fmt::format("{} is expected to be the soonest of all with this matrix", describe(arm.choice));
      break;
    }
    if (!built_.op)
      throw_error(ErrorKind::bad_input, "no preconditioner can be built of this matrix" + failures_, true);
  }
  is_symmetric_ = facts.symmetric && solvers::preconditioner(name_).symmetric;
  if (known_.is_complex && !solvers::is_complex_linear(sum_, *built_.op))
    built_.op = comm::agree(comm, [&] { return std::make_unique<ComplexLinearPart>(std::move(built_.op)); });
  why_ += failures_;
  for (const auto& note : built_.notes) why_ += "; " + note;
}

/// Collective. False where it cannot be built.
bool LinearPreconditioner::build(const std::string& name) {
  if (name == name_) return false;  // by another arm, just now
  name_ = name;
  try {
    built_ = solvers::preconditioner(name).make(matrix_, sum_, options_);
    return true;
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    failures_ += fmt::format("; {} failed: {}", name, error.what());
    return false;
  }
}

void LinearPreconditioner::apply(std::span<const double> r, std::span<double> z) const {
  const ThreadScope threads(threads_);
  built_.op->apply(r, z);
}

}  // namespace ayatori::session
