#pragma once

namespace ayatori::cli {

/// From construction on, SIGINT and SIGTERM set a flag instead of ending the process, so that the best x can
/// be written. A second SIGINT ends it at once.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool received() const;
};

}  // namespace ayatori::cli
