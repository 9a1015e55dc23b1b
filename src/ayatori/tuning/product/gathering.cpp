#include "ayatori/tuning/product/gathering.hpp"

#include <utility>

#include "ayatori/comm/agree.hpp"

namespace ayatori::tuning {

Gathering::Gathering(comm::Comm comm, sparse::RowPartition given)
    : comm_(std::move(comm)),
      given_(std::move(given)),
      used_(sparse::RowPartition::on_first(given_.rows(), comm_.size())) {}

std::shared_ptr<const sparse::SplitMatrix> Gathering::move(const sparse::SplitMatrix& parts) const {
  auto moved = sparse::gather(comm_, parts);
  return comm::agree(comm_, [&] { return std::make_shared<const sparse::SplitMatrix>(std::move(moved)); });
}

Array<double> Gathering::there(solvers::ConstVector v) const {
  return sparse::redistribute(comm_, v, given_, used_);
}

void Gathering::back(solvers::ConstVector v, solvers::Vector to) const {
  solvers::copy(sparse::redistribute(comm_, v, used_, given_), to);
}

SolveHooks Gathering::hooks(const SolveHooks& of_caller) const {
  SolveHooks mine = of_caller;
  if (of_caller.snapshot)
    mine.snapshot = [this, &of_caller](const Snapshot& snapshot) {
      Snapshot for_caller = snapshot;
      Array<double> x(given_.range(comm_.rank()).size());
      back(snapshot.x, x);
      for_caller.x = x;
      of_caller.snapshot(for_caller);
    };
  return mine;
}

}  // namespace ayatori::tuning
