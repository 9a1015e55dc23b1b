// Ranks that come together otherwise than in MPI_COMM_WORLD: says what is wrong first, or nothing.
//   groups between         two halves, by an intercommunicator
//   groups spawned         two processes that the job starts, between and merged
//   groups session         a session beside MPI_COMM_WORLD, where the MPI has sessions
//   groups session-alone   a session, and no MPI_Init
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/pmpi/ranks.hpp"

namespace {

void expect(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

constexpr int calls = 6;  ///< more than the first ones, which have no shared memory

void together(MPI_Comm comm, const char* what) {
  for (int call = 0; call < calls; ++call) {
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == size_of(comm), what);
    int from_last = rank_in(comm) + call;
    MPI_Bcast(&from_last, 1, MPI_INT, size_of(comm) - 1, comm);
    expect(from_last == size_of(comm) - 1 + call, what);
    MPI_Barrier(comm);
  }
}

/// Both sides get what the other has. `first`: the side that sends a broadcast.
void across(MPI_Comm between, bool first) {
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  for (int call = 0; call < calls; ++call) {
    const int own = first ? 1 : 10;
    int sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, between);
    expect(sum == others * (first ? 10 : 1), "an allreduce between groups");
    int data = first ? 5 + call : 0;
    const int root = !first ? 0 : rank_in(between) == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&data, 1, MPI_INT, root, between);
    expect(data == 5 + call, "a broadcast between groups");
    MPI_Barrier(between);
  }
}

void merge(MPI_Comm between, bool first) {
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(between, first ? 0 : 1, &merged);
  together(merged, "merged groups");
  MPI_Comm_free(&merged);
}

void between_halves() {
  const int me = rank_in(MPI_COMM_WORLD);
  const bool first = me == 0;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, first ? 0 : 1, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? 1 : 0, 3, &between);
  across(between, first);
  merge(between, first);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/// As this process was started: the library and its settings are in the environment of the program alone.
std::vector<std::string> own_start(const char* program) {
  std::vector<std::string> words;
  for (const char* name : {"LD_PRELOAD", "AYATORI_COLLECTIVES", "AYATORI_COLLECTIVES_REPORT"}) {
    if (const char* const value = std::getenv(name)) words.push_back(name + std::string("=") + value);
  }
  words.insert(words.end(), {program, "spawned"});
  return words;
}

void spawn(const char* program) {
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_get_parent(&between);
  const bool first = between == MPI_COMM_NULL;
  if (first) {
    std::vector<std::string> words = own_start(program);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn("env", arguments.data(), 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
      std::printf("the MPI starts no processes\n");
      return;
    }
  }
  together(MPI_COMM_WORLD, "one side of a spawn");
  across(between, first);
  merge(between, first);
  MPI_Comm_disconnect(&between);
}

#if MPI_VERSION >= 4
void in_session() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ayatori", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  together(comm, "a session");
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#else
void in_session() {}
#endif

}  // namespace

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  if (std::strcmp(mode, "session-alone") == 0) {
    in_session();
    return 0;
  }
  MPI_Init(&argc, &argv);
  if (std::strcmp(mode, "between") == 0) between_halves();
  if (std::strcmp(mode, "spawned") == 0) spawn(argv[0]);
  if (std::strcmp(mode, "session") == 0) in_session();
  together(MPI_COMM_WORLD, "the world");
  MPI_Finalize();
  return 0;
}
