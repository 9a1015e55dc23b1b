#include "ayatori/comm/agree.hpp"

namespace ayatori::comm {

void agree_on_outcome(const Comm& comm, const LocalOutcome& mine) {
  const int first =
      static_cast<int>(comm.allreduce<std::int64_t>(mine.failed ? comm.rank() : comm.size(), ReduceOp::min));
  if (first == comm.size()) return;
  const auto kind = static_cast<ErrorKind>(comm.broadcast(static_cast<int>(mine.kind), first));
  throw_error(kind, comm.broadcast(mine.text, first), true);
}

}  // namespace ayatori::comm
