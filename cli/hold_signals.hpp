#pragma once

#include <array>
#include <csignal>

#include "ayatori/comm/comm.hpp"

namespace ayatori::cli {

/// While results are written: SIGINT and SIGTERM wait, and are delivered at the end of its life. A file is
/// thus written whole or not at all, and no temporary one stays. Handlers that were there before, those of
/// StopSignal for one, are there again afterwards.
class HoldSignals {
 public:
  /// Collective: when it returns, the signals wait on every rank. A rank that died alone would have the
  /// launcher kill the one that writes.
  explicit HoldSignals(const comm::Comm& comm);
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

 private:
  static constexpr std::array<int, 2> held{SIGINT, SIGTERM};
  std::array<struct sigaction, held.size()> before_{};
};

}  // namespace ayatori::cli
