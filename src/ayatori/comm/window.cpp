#include "ayatori/comm/window.hpp"

#include <exception>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/native.hpp"

namespace ayatori::comm {

namespace {

/// These ranks of `comm`; MPI_GROUP_NULL if there are none.
MPI_Group group_of(const Comm& comm, std::span<const int> ranks) {
  if (ranks.empty()) return MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(native(comm), &all), "MPI_Comm_group");
  MPI_Group some = MPI_GROUP_NULL;
  const int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  check_mpi(code, "MPI_Group_incl");
  return some;
}

}  // namespace

struct Window::State {
  Comm comm;
  std::int64_t longest;
  int exceptions = std::uncaught_exceptions();  ///< under way when this was made
  MPI_Group origins = MPI_GROUP_NULL;
  MPI_Group targets = MPI_GROUP_NULL;
  MPI_Win window = MPI_WIN_NULL;
  std::byte* memory = nullptr;

  State(const Comm& c, std::int64_t l) : comm(c), longest(l) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    if (origins != MPI_GROUP_NULL) MPI_Group_free(&origins);
    if (targets != MPI_GROUP_NULL) MPI_Group_free(&targets);
    if (window != MPI_WIN_NULL && std::uncaught_exceptions() <= exceptions) MPI_Win_free(&window);
  }
};

Window::Window(const Comm& comm, std::int64_t bytes, std::span<const int> origins,
               std::span<const int> targets, std::int64_t longest) {
  agree(comm, [&] {
    state_ = std::make_unique<State>(comm, longest);
    state_->origins = group_of(comm, origins);
    state_->targets = group_of(comm, targets);
  });
  // MPICH 4.0 lets the memory of two ranks of a node overlap where sizes are not multiples of 16 bytes.
  const std::int64_t whole_lines = (bytes + 63) / 64 * 64;
  void* memory = nullptr;
  const int code = MPI_Win_allocate(whole_lines, 1, MPI_INFO_NULL, native(comm), static_cast<void*>(&memory),
                                    &state_->window);
  agree(comm, [&] {
    check_mpi(code, "MPI_Win_allocate");
    check_mpi(MPI_Win_set_errhandler(state_->window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
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
  if (state_->origins == MPI_GROUP_NULL) return;
  check_mpi(MPI_Win_post(state_->origins, 0, state_->window), "MPI_Win_post");
}

void Window::start() {
  if (state_->targets == MPI_GROUP_NULL) return;
  check_mpi(MPI_Win_start(state_->targets, 0, state_->window), "MPI_Win_start");
}

void Window::put(const void* data, std::int64_t count, DataType type, int target, std::int64_t offset) {
  in_messages(count, type, state_->longest, [&](std::int64_t done, int length) {
    check_mpi(MPI_Put(static_cast<const std::byte*>(data) + done, length, native(type), target, offset + done,
                      length, native(type), state_->window),
              "MPI_Put");
  });
}

void Window::complete() {
  if (state_->targets == MPI_GROUP_NULL) return;
  check_mpi(MPI_Win_complete(state_->window), "MPI_Win_complete");
}

void Window::wait() {
  if (state_->origins == MPI_GROUP_NULL) return;
  check_mpi(MPI_Win_wait(state_->window), "MPI_Win_wait");
}

}  // namespace ayatori::comm
