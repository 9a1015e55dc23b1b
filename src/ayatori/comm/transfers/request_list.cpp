#include "ayatori/comm/transfers/request_list.hpp"

#include <utility>

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

namespace {

MPI_Request* array_in(std::vector<Request::Part>& parts) {
  return reinterpret_cast<MPI_Request*>(parts.data());
}

int count(const std::vector<Request::Part>& parts) {
  return static_cast<int>(parts.size());
}

void wait_each(std::vector<Request::Part>& parts) {
  for (Request::Part& part : parts) check_mpi(MPI_Wait(native_request(part), MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace

void RequestList::add(Request request) {
  first_.emplace_back();
  more_.push_back(std::move(request.more_));
  array_in(first_)[first_.size() - 1] =
      std::exchange(request.active_, false) ? *native_request(request.first_) : MPI_REQUEST_NULL;
}

void RequestList::wait_all() {
  check_mpi(MPI_Waitall(count(first_), array_in(first_), MPI_STATUSES_IGNORE), "MPI_Waitall");
  for (auto& parts : more_) wait_each(parts);
  clear();
}

std::size_t RequestList::wait_any() {
  int done = MPI_UNDEFINED;
  check_mpi(MPI_Waitany(count(first_), array_in(first_), &done, MPI_STATUS_IGNORE), "MPI_Waitany");
  if (done == MPI_UNDEFINED) done = 0;  // all were complete before they were added
  wait_each(more_[done]);
  array_in(first_)[done] = array_in(first_)[first_.size() - 1];
  first_.pop_back();
  std::swap(more_[done], more_.back());
  more_.pop_back();
  return done;
}

void RequestList::clear() {
  first_.clear();
  more_.clear();
}

}  // namespace ayatori::comm
