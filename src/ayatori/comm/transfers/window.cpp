#include "ayatori/comm/transfers/window.hpp"

#ifndef AYATORI_SMPI
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

namespace {

/// Tags of the empty messages. Communicators of the library carry no user messages with them.
constexpr int post_tag = 32002;
constexpr int done_tag = 32003;

#ifndef AYATORI_SMPI
constexpr const char* folder_of_windows = "/dev/shm";

/// What is left there; everything if windows are not made there.
std::int64_t bytes_left() {
  constexpr auto all = std::numeric_limits<std::int64_t>::max();
  for (const char* name : {"OMPI_MCA_osc_sm_backing_store", "OMPI_MCA_osc_sm_backing_directory",
                           "OMPI_MCA_osc_rdma_backing_directory"}) {
    if (std::getenv(name) != nullptr) return all;
  }
  struct statvfs facts {};
  if (access(folder_of_windows, W_OK) != 0 || statvfs(folder_of_windows, &facts) != 0) return all;
  return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize);
}

/// Collective. Throws EnvironmentError (agreed) unless the ranks of every node find room for a window of
/// theirs: Open MPI 4.1 waits for ever where one does not, MPICH 4.0 does not ask.
void look_for_room(const Comm& comm, std::int64_t bytes) {
  if (comm.size() == 1) return;
  constexpr std::int64_t in_any_case = 65536;  // what MPIs keep of a window beside its memory
  constexpr std::int64_t of_a_rank = 8192;
  const Comm node = comm.split_by_node();
  constexpr std::int64_t spare = 16;  // Open MPI wants a twentieth more than it takes
  const std::int64_t taken = in_any_case + node.allreduce(bytes + of_a_rank, ReduceOp::sum);
  const std::int64_t wanted = taken + taken / spare;
  agree(comm, [&] {
    const std::int64_t left = bytes_left();
    if (node.size() == 1 || wanted <= left) return;
    throw EnvironmentError(
        fmt::format("a window of the ranks of a node takes {} KiB of {}, which has {} KiB left: enlarge it "
                    "(docker run --shm-size), or choose a way without windows",
                    (wanted + 1023) / 1024, folder_of_windows, left / 1024));
  });
}

/// Whether the pages are there, asked for before somebody is killed for writing to them. What an older kernel
/// cannot be asked is.
bool are_there(void* memory, std::int64_t bytes) {
  constexpr int populate = 23;  // MADV_POPULATE_WRITE, from Linux 5.14 on
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(bytes);
  return bytes == 0 || madvise(reinterpret_cast<void*>(begin), end - begin, populate) == 0 || errno != EFAULT;
}
#else  // simulated ranks share one process
void look_for_room(const Comm&, std::int64_t) {}
bool are_there(void*, std::int64_t) {
  return true;
}
#endif

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
  look_for_room(comm, whole_lines);
  void* memory = nullptr;
  const int code = MPI_Win_allocate(whole_lines, 1, MPI_INFO_NULL, native(comm), static_cast<void*>(&memory),
                                    &state_->window);
  agree(comm, [&] { check_mpi(code, "MPI_Win_allocate"); });
  if (comm.any(!are_there(memory, whole_lines))) {
    MPI_Win_free(&state_->window);
    throw_error(ErrorKind::environment, "a window of the ranks of a node finds no memory", true);
  }
  agree(comm, [&] {
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
