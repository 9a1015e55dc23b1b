#include "cli/hold_signals.hpp"

namespace ayatori::cli {

namespace {

volatile std::sig_atomic_t received = 0;  ///< the last signal, or 0

void on_signal(int signal) {
  received = signal;
}

}  // namespace

// A handler and not a signal mask: a mask is a thread's own, and the signal would go to another thread.
HoldSignals::HoldSignals(const comm::Comm& comm) {
  received = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t k = 0; k < held.size(); ++k) sigaction(held[k], &action, &before_[k]);
  comm.barrier();
}

HoldSignals::~HoldSignals() {
  for (std::size_t k = 0; k < held.size(); ++k) sigaction(held[k], &before_[k], nullptr);
  if (received != 0) std::raise(received);
}

}  // namespace ayatori::cli
