#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"
#include "python/bindings/solve_call.hpp"

namespace ayatori::python {

/// A linear preconditioner of a matrix that is spread over the ranks of a communicator.
class Preconditioner final : public comm::MpiHolder {
 public:
  Preconditioner(const InputIndices& start, const InputIndices& column, const InputVector& value,
                 std::int64_t columns, std::uintptr_t comm, Options options) {
    const CoreCall call;
    ranks_.emplace(communicator(comm));
    const auto rows = make_rows(*ranks_, start, column, value, columns);
    built_.emplace(*ranks_, rows, options.request, std::move(options.known));
    rows_ = rows.global_rows;
    local_rows_ = rows.rows();
  }

  /// Collective. z = M r, both with as many elements as this rank has rows.
  void apply(const InputVector& r, const InOutVector& z) const {
    const CoreCall call;
    apply_to(span_of(r), span_of(z));
  }
  /// Collective. The same inside of a call into the core.
  void apply_to(std::span<const double> r, std::span<double> z) const {
    live();
    built_->apply(r, z);
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) const {
    const CoreCall call;
    agree_on(live(), complaint);
  }

  void release() override {
    built_.reset();
    ranks_.reset();
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t local_rows() const { return local_rows_; }
  std::string name() const { return built_ ? built_->name() : ""; }
  std::string why() const { return built_ ? built_->why() : ""; }
  bool is_symmetric() const { return built_ && built_->is_symmetric(); }
  int ranks() const { return live().size(); }

 private:
  const comm::Comm& live() const {
    if (!ranks_) throw EnvironmentError("MPI has ended, and with it the use of this preconditioner");
    return *ranks_;
  }

  std::optional<comm::Comm> ranks_;  ///< none when MPI has ended
  std::optional<session::LinearPreconditioner> built_;
  std::int64_t rows_ = 0;
  std::int64_t local_rows_ = 0;
};

}  // namespace ayatori::python
