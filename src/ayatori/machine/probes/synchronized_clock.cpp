#include "ayatori/machine/probes/synchronized_clock.hpp"

#include <ctime>
#include <thread>

#include "ayatori/base/timing.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 2;
constexpr int round_trips = 10;
/// Nearer than this, in seconds, a yield could return too late.
constexpr double near = 50e-6;

struct Reading {
  double time;  ///< by rank 0's clock
  double offset;
  int node;
};

void answer(const comm::Comm& comm, int child, double offset, int node) {
  for (int k = 0; k < round_trips; ++k) {
    Reading reading{};
    comm.recv(std::span(&reading, 1), child, tag);
    reading = {wall_time() + offset, offset, node};
    comm.send(std::span<const Reading>(&reading, 1), child, tag);
  }
}

double ask(const comm::Comm& comm, int parent, int node) {
  double shortest = 0;
  double offset = 0;
  for (int k = 0; k < round_trips; ++k) {
    Reading reading{};
    const double asked = wall_time();
    comm.send(std::span<const Reading>(&reading, 1), parent, tag);
    comm.recv(std::span(&reading, 1), parent, tag);
    const double answered = wall_time();
    if (k == 0 || answered - asked < shortest) {
      shortest = answered - asked;
      offset = reading.node == node ? reading.offset : reading.time - (asked + answered) / 2;
    }
  }
  return offset;
}

}  // namespace

SynchronizedClock::SynchronizedClock(const comm::Comm& comm, int node) {
  for (int known = 1; known < comm.size(); known *= 2) {
    const int rank = comm.rank();
    if (rank < known && rank + known < comm.size()) answer(comm, rank + known, offset_, node);
    if (rank >= known && rank < 2 * known) offset_ = ask(comm, rank - known, node);
  }
}

double SynchronizedClock::now() const {
  return wall_time() + offset_;
}

bool SynchronizedClock::wait_until(double time) const {
  double left = time - now();
  if (left < 0) return false;
#ifdef AYATORI_SMPI  // simulated time goes on while a rank sleeps, and hardly while it looks at the clock
  const auto whole_seconds = static_cast<std::time_t>(left);
  const timespec pause{whole_seconds, static_cast<long>(1e9 * (left - static_cast<double>(whole_seconds)))};
  nanosleep(&pause, nullptr);
  left = time - now();
#endif
  while (left > 0) {
    if (left > near) std::this_thread::yield();
    left = time - now();
  }
  return true;
}

}  // namespace ayatori::machine
