#include "ayatori/comm/comm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::byte:
      return 1;
    case DataType::int32:
    case DataType::float32:
      return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64:
      break;
  }
  return 8;
}

MPI_Datatype native(DataType type) {
  switch (type) {
    case DataType::byte:
      return MPI_BYTE;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint64:
      return MPI_UINT64_T;
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      break;
  }
  return MPI_DOUBLE;
}

MPI_Op native(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::bitwise_or:
      break;
  }
  return MPI_BOR;
}

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw EnvironmentError(fmt::format("{} failed: {}", call, std::string(text, length)));
}

CommHandle::~CommHandle() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owned && finalized == 0) MPI_Comm_free(&comm);
}

OwnedWindow::~OwnedWindow() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0 || window == MPI_WIN_NULL || std::uncaught_exceptions() > exceptions) return;
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

Comm CommHandle::wrap(MPI_Comm comm, bool owned, std::shared_ptr<const Collectives> collectives) {
  check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return Comm(std::make_shared<CommHandle>(comm, owned), std::move(collectives));
}

Comm from_native(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return CommHandle::wrap(copy, true, mpi_collectives());
}

void Request::wait() {
  if (!active_) return;
  check_mpi(MPI_Wait(native_request(first_), MPI_STATUS_IGNORE), "MPI_Wait");
  for (Part& part : more_) check_mpi(MPI_Wait(native_request(part), MPI_STATUS_IGNORE), "MPI_Wait");
  active_ = false;
}

bool Request::test() {
  if (!active_) return true;
  const auto is_done = [](Part& part) {
    int done = 0;
    check_mpi(MPI_Test(native_request(part), &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;  // a completed request has become MPI_REQUEST_NULL, which stays done
  };
  active_ = !(is_done(first_) && std::ranges::all_of(more_, is_done));
  return !active_;
}

void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

Comm::Comm(std::shared_ptr<const CommHandle> handle, std::shared_ptr<const Collectives> collectives)
    : handle_(std::move(handle)), collectives_(std::move(collectives)) {
  check_mpi(MPI_Comm_rank(handle_->comm, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(handle_->comm, &size_), "MPI_Comm_size");
}

Comm Comm::world() {
  return CommHandle::wrap(MPI_COMM_WORLD, false, mpi_collectives());
}

// A duplicate, made once: the error handler of MPI_COMM_SELF is the application's. It goes with MPI.
Comm Comm::self() {
  static const Comm alone = from_native(MPI_COMM_SELF);
  return alone;
}

Comm Comm::duplicate() const {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(handle_->comm, &copy), "MPI_Comm_dup");
  return CommHandle::wrap(copy, true, collectives_);
}

Comm Comm::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(handle_->comm, color, key, &part), "MPI_Comm_split");
  return CommHandle::wrap(part, true, collectives_);
}

#ifdef AYATORI_SMPI
Comm Comm::split_by_node() const {
  if (size_ == 1) return *this;
  // SMPI answers MPI_COMM_TYPE_SHARED with a communicator of one rank, so the host's name tells the node.
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  const auto names = allgatherv(std::span<const char>(name, length));
  int color = 0;
  while (!std::ranges::equal(names.of(color), names.of(rank_))) ++color;
  return split(color, rank_);
}
#else
Comm Comm::split_by_node() const {
  if (size_ == 1) return *this;
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(handle_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
            "MPI_Comm_split_type");
  return CommHandle::wrap(part, true, collectives_);
}
#endif

Comm Comm::with_collectives(std::shared_ptr<const Collectives> collectives) const {
  return Comm(handle_, std::move(collectives));
}

std::string Comm::broadcast(const std::string& text, int root) const {
  const auto length = broadcast(static_cast<std::int64_t>(text.size()), root);
  std::string result = rank_ == root ? text : std::string(length, '\0');
  broadcast(std::span<char>(result), root);
  return result;
}

void Comm::poke() const {
  // For what is never there: a probe that finds something lets nothing proceed.
  constexpr int no_tag = 32004;
  int found = 0;
  check_mpi(MPI_Iprobe(rank_, no_tag, handle_->comm, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

template <class Start>
Request Comm::start_parts(std::int64_t count, DataType type, Start&& start) {
  Request request;
  request.active_ = true;
  in_messages(count, type, max_message, [&](std::int64_t offset, int length) {
    Request::Part& part = offset == 0 ? request.first_ : request.more_.emplace_back();
    *native_request(part) = start(offset, length);
  });
  return request;
}

Request Comm::isend_raw(const void* data, std::int64_t count, DataType type, int destination, int tag) const {
  return start_parts(count, type, [&](std::int64_t offset, int part) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(static_cast<const std::byte*>(data) + offset, part, native(type), destination, tag,
                        handle_->comm, &request),
              "MPI_Isend");
    return request;
  });
}

Request Comm::irecv_raw(void* data, std::int64_t count, DataType type, int source, int tag) const {
  return start_parts(count, type, [&](std::int64_t offset, int part) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(static_cast<std::byte*>(data) + offset, part, native(type), source, tag,
                        handle_->comm, &request),
              "MPI_Irecv");
    return request;
  });
}

void Comm::send_raw(const void* data, std::int64_t count, DataType type, int destination, int tag) const {
  in_messages(count, type, max_message, [&](std::int64_t offset, int part) {
    check_mpi(MPI_Send(static_cast<const std::byte*>(data) + offset, part, native(type), destination, tag,
                       handle_->comm),
              "MPI_Send");
  });
}

void Comm::recv_raw(void* data, std::int64_t count, DataType type, int source, int tag) const {
  in_messages(count, type, max_message, [&](std::int64_t offset, int part) {
    check_mpi(MPI_Recv(static_cast<std::byte*>(data) + offset, part, native(type), source, tag, handle_->comm,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
  });
}

Comm::Layout::Layout(const std::vector<std::int64_t>& offsets, std::int64_t units) {
  const std::size_t parts = offsets.size() - 1;
  counts.resize(parts);
  displacements.resize(parts);
  for (std::size_t r = 0; r < parts; ++r) {
    counts[r] = (offsets[r + 1] - offsets[r]) * units;
    displacements[r] = offsets[r] * units;
  }
}

std::vector<std::int64_t> Comm::offsets_from(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> offsets(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
  return offsets;
}

}  // namespace ayatori::comm
