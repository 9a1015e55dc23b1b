#include "ayatori/comm/window.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/native.hpp"

namespace ayatori::comm {

namespace {

/// Tags of the empty messages. Communicators of the library carry no user messages with them.
constexpr int post_tag = 32002;
constexpr int done_tag = 32003;

}  // namespace

struct Window::State : OwnedWindow {
  Comm comm;
  std::vector<int> origins;
  std::vector<int> targets;
  std::int64_t longest;
  std::byte* memory = nullptr;
  std::vector<Request> sending;
  std::vector<Request> receiving;

  State(const Comm& c, std::span<const int> o, std::span<const int> t, std::int64_t l)
      : comm(c), origins(o.begin(), o.end()), targets(t.begin(), t.end()), longest(l) {
    sending.reserve(origins.size() + targets.size());
    receiving.reserve(std::max(origins.size(), targets.size()));
  }

  void tell(const std::vector<int>& ranks, int tag) {
    for (const int rank : ranks) sending.push_back(comm.isend(std::span<const std::byte>(), rank, tag));
  }
  void hear_from(const std::vector<int>& ranks, int tag) {
    for (const int rank : ranks) receiving.push_back(comm.irecv(std::span<std::byte>(), rank, tag));
    wait_all(receiving);
    receiving.clear();
  }
};

Window::Window(const Comm& comm, std::int64_t bytes, std::span<const int> origins,
               std::span<const int> targets, std::int64_t longest) {
  agree(comm, [&] { state_ = std::make_unique<State>(comm, origins, targets, longest); });
  // MPICH 4.0 lets the memory of two ranks of a node overlap where sizes are not multiples of 16 bytes.
  const std::int64_t whole_lines = (bytes + 63) / 64 * 64;
  void* memory = nullptr;
  const int code = MPI_Win_allocate(whole_lines, 1, MPI_INFO_NULL, native(comm), static_cast<void*>(&memory),
                                    &state_->window);
  agree(comm, [&] {
    check_mpi(code, "MPI_Win_allocate");
    check_mpi(MPI_Win_set_errhandler(state_->window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, state_->window), "MPI_Win_lock_all");
  });
  state_->memory = static_cast<std::byte*>(memory);
}

Window::Window(Window&&) noexcept = default;
Window& Window::operator=(Window&&) noexcept = default;
Window::~Window() = default;

std::byte* Window::data() const {
  return state_->memory;
}

void Window::post() {
  state_->tell(state_->origins, post_tag);
}

void Window::start() {
  state_->hear_from(state_->targets, post_tag);
}

void Window::put(const void* data, std::int64_t count, DataType type, int target, std::int64_t offset) {
  in_messages(count, type, state_->longest, [&](std::int64_t done, int length) {
    check_mpi(MPI_Put(static_cast<const std::byte*>(data) + done, length, native(type), target, offset + done,
                      length, native(type), state_->window),
              "MPI_Put");
  });
}

void Window::complete() {
  if (!state_->targets.empty()) check_mpi(MPI_Win_flush_all(state_->window), "MPI_Win_flush_all");
  state_->tell(state_->targets, done_tag);
}

void Window::wait() {
  state_->hear_from(state_->origins, done_tag);
  wait_all(state_->sending);
  state_->sending.clear();
  check_mpi(MPI_Win_sync(state_->window), "MPI_Win_sync");
}

}  // namespace ayatori::comm
