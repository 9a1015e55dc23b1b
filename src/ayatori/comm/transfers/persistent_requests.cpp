#include "ayatori/comm/transfers/persistent_requests.hpp"

#include <utility>
#include <vector>

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

struct PersistentRequests::State {
  Comm comm;
  std::int64_t longest;
  std::vector<MPI_Request> requests;

  State(Comm c, std::int64_t l) : comm(std::move(c)), longest(l) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
};

PersistentRequests::PersistentRequests(Comm comm, std::int64_t longest)
    : state_(std::make_unique<State>(std::move(comm), longest)) {}
PersistentRequests::PersistentRequests(PersistentRequests&&) noexcept = default;
PersistentRequests& PersistentRequests::operator=(PersistentRequests&&) noexcept = default;
PersistentRequests::~PersistentRequests() = default;

void PersistentRequests::add_send(const void* data, std::int64_t count, DataType type, int destination,
                                  int tag) {
  in_messages(count, type, state_->longest, [&](std::int64_t offset, int length) {
    state_->requests.reserve(state_->requests.size() + 1);  // so that no request is made that cannot be kept
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Send_init(static_cast<const std::byte*>(data) + offset, length, native(type), destination,
                            tag, native(state_->comm), &request),
              "MPI_Send_init");
    state_->requests.push_back(request);
  });
}

void PersistentRequests::add_receive(void* data, std::int64_t count, DataType type, int source, int tag) {
  in_messages(count, type, state_->longest, [&](std::int64_t offset, int length) {
    state_->requests.reserve(state_->requests.size() + 1);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Recv_init(static_cast<std::byte*>(data) + offset, length, native(type), source, tag,
                            native(state_->comm), &request),
              "MPI_Recv_init");
    state_->requests.push_back(request);
  });
}

void PersistentRequests::start() {
  auto& requests = state_->requests;
  if (requests.empty()) return;
  check_mpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
}

void PersistentRequests::wait() {
  auto& requests = state_->requests;
  if (requests.empty()) return;
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
}

}  // namespace ayatori::comm
