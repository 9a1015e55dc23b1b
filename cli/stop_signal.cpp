#include "cli/stop_signal.hpp"

#include <csignal>

namespace ayatori::cli {

namespace {

volatile std::sig_atomic_t stop_received = 0;

void on_signal(int signal) {
  stop_received = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  stop_received = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::received() const {
  return stop_received != 0;
}

}  // namespace ayatori::cli
