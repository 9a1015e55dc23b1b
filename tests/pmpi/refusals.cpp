// A program in whose place something refuses what a library put before its MPI may want: communicators, tags,
// memory. Its own calls are right all the same.
//   refusals many N      as many communicators as there are, up to N, with an allreduce on each; says how
//   many refusals few N       N communicators at once, five allreduces on each, all freed; three times over
//   refusals threads N   N threads, each with a communicator of its own
//   refusals alike N     N allreduces of one buffer, which Open MPI alone takes; says how many it was
// After these, in any order: no-communicator, few-tags, no-kernel-memory, no-memory, other-name. Says how
// often memory was asked for, and given, on rank 0.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

std::set<std::string> refused;
int own_rank = 0;
std::atomic<int> asked = 0;
std::atomic<int> given = 0;

/// Where one rank alone is refused: not the first.
bool is_last() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return own_rank == size - 1;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Found before those of the MPI and the C library, which they call.
extern "C" {

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  const int code = next<int(MPI_Comm, MPI_Group, MPI_Comm*)>("PMPI_Comm_create")(comm, group, made);
  PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  return refused.contains("no-communicator") && is_last() ? MPI_ERR_OTHER : code;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* is_there) {
  static int few = 3 * 4200;
  const int code = next<int(MPI_Comm, int, void*, int*)>("PMPI_Comm_get_attr")(comm, key, value, is_there);
  if (key == MPI_TAG_UB && refused.contains("few-tags") && is_last()) *static_cast<int**>(value) = &few;
  return code;
}

int PMPI_Get_library_version(char* version, int* length) {
  const int code = next<int(char*, int*)>("PMPI_Get_library_version")(version, length);
  if (refused.contains("other-name"))
    *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Open MPI v6.0.0, by the ABI");
  return code;
}

int memfd_create(const char* name, unsigned flags) noexcept {
  if (!refused.contains("no-kernel-memory")) return static_cast<int>(syscall(SYS_memfd_create, name, flags));
  errno = ENOSYS;
  return -1;
}

int posix_fallocate(int file, off_t begin, off_t length) {
  ++asked;
  if (refused.contains("no-memory") && is_last()) return ENOSPC;
  const int error = next<int(int, off_t, off_t)>("posix_fallocate")(file, begin, length);
  given += error == 0 ? 1 : 0;
  return error;
}
}

namespace {

void expect_sum(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  int one = 1;
  int sum = 0;
  if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size) return;
  std::fprintf(stderr, "a wrong sum\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void many(int number) {
  std::vector<MPI_Comm> comms;
  MPI_Comm comm = MPI_COMM_NULL;
  while (std::ssize(comms) < number && MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS) {
    comms.push_back(comm);
    expect_sum(comm);
  }
  if (own_rank == 0) std::printf("%td communicators\n", std::ssize(comms));
}

void few(int number) {
  for (int again = 0; again < 3; ++again) {
    std::vector<MPI_Comm> comms(number);
    for (MPI_Comm& comm : comms) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      for (int call = 0; call < 5; ++call) expect_sum(comm);
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
}

void threads(int number) {
  std::vector<MPI_Comm> comms(number);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> workers;
  for (const MPI_Comm comm : comms) {
    workers.emplace_back([comm] {
      for (int call = 0; call < 300; ++call) expect_sum(comm);
    });
  }
  for (auto& worker : workers) worker.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void alike(int number) {
  int size = 0;
  int done = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int call = 0; call < number; ++call) {
    int sum = 1;
    if (MPI_Allreduce(&sum, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size) ++done;
  }
  if (own_rank == 0) std::printf("%d taken\n", done);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  for (int i = 3; i < argc; ++i) refused.insert(argv[i]);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, mode == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (mode == "many") many(number);
  if (mode == "few") few(number);
  if (mode == "alike") alike(number);
  if (mode == "threads" && provided == MPI_THREAD_MULTIPLE) threads(number);
  if (own_rank == 0) std::printf("memory: asked %d, given %d\n", asked.load(), given.load());
  MPI_Finalize();
  return 0;
}
