#include "bench/papers/phases.hpp"

#include "ayatori/base/error.hpp"

namespace ayatori::bench {

void PhaseTimes::add(const comm::Comm& comm, std::vector<double> mine) {
  AYATORI_ASSERT(mine.size() == names_.size());
  comm.allreduce(std::span<double>(mine), comm::ReduceOp::max);
  for (std::size_t i = 0; i < mine.size(); ++i) seconds_[i].push_back(mine[i]);
}

std::vector<Phase> PhaseTimes::phases() const {
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < names_.size(); ++i) phases.push_back({names_[i], spread(seconds_[i])});
  return phases;
}

}  // namespace ayatori::bench
