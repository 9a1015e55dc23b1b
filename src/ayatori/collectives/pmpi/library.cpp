#include "ayatori/collectives/pmpi/library.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include "ayatori/collectives/pmpi/pending_calls.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"
#include "ayatori/collectives/pmpi/trace.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::pmpi {

namespace {

/// The library's state in this process. MPI calls back into it until it ends, so it is never destroyed.
struct Library {
  std::atomic<bool> is_active = false;
  bool is_tracing = false;
  Settings settings;
  int rank = 0;
  int size = 1;
  bool is_open_mpi = false;
  int keyval = MPI_KEYVAL_INVALID;
  std::mutex new_facts;
  std::atomic<CommFacts*> world = nullptr;  ///< facts of MPI_COMM_WORLD: most calls ask for these
};

Library& library() {
  static auto* const the_library = new Library;
  return *the_library;
}

int delete_facts(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
  const std::unique_ptr<CommFacts> facts(static_cast<CommFacts*>(value));
  if (facts->pending != nullptr) wait_for_tags(*facts->pending);
  return MPI_SUCCESS;
}

bool calls_itself(std::string_view name) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  return std::string_view(version.data()).starts_with(name);
}

/// The value of a variable on rank 0 of MPI_COMM_WORLD; empty if it has none. Collective.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return from_first_rank(value != nullptr ? value : "");
}

std::unique_ptr<CommFacts> new_facts_of(MPI_Comm comm) {
  auto facts = std::make_unique<CommFacts>();
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  facts->is_intra = is_inter == 0;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  if (facts->is_intra)
    PMPI_Comm_group(comm, &group);
  else
    PMPI_Comm_remote_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  facts->world_ranks.resize(size);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, facts->world_ranks.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  facts->is_in_world = facts->is_intra;
  for (const int rank : facts->world_ranks) facts->is_in_world = facts->is_in_world && rank != MPI_UNDEFINED;
  PMPI_Comm_rank(comm, &facts->rank);
  if (library().is_tracing && facts->is_in_world) facts->calls = calls_of_members(facts->world_ranks);
  return facts;
}

}  // namespace

bool is_active() {
  return library().is_active.load(std::memory_order_relaxed);
}

bool is_tracing() {
  return is_active() && library().is_tracing;
}

const Settings& settings() {
  return library().settings;
}

int world_size() {
  return library().size;
}

int world_rank() {
  return library().rank;
}

bool is_open_mpi() {
  return library().is_open_mpi;
}

std::string from_first_rank(std::string text) {
  auto length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(length);
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

CommFacts& facts_of(MPI_Comm comm) {
  Library& s = library();
  if (comm == MPI_COMM_WORLD) {
    if (CommFacts* const facts = s.world.load(std::memory_order_acquire)) return *facts;
  }
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, s.keyval, &value, &is_there);
  if (is_there != 0) return *static_cast<CommFacts*>(value);
  const std::lock_guard lock(s.new_facts);
  PMPI_Comm_get_attr(comm, s.keyval, &value, &is_there);
  if (is_there != 0) return *static_cast<CommFacts*>(value);
  CommFacts* const facts = new_facts_of(comm).release();
  PMPI_Comm_set_attr(comm, s.keyval, facts);
  if (comm == MPI_COMM_WORLD) s.world.store(facts, std::memory_order_release);
  return *facts;
}

void begin() {
  PMPI_Comm_rank(MPI_COMM_WORLD, &library().rank);
  Settings settings;
  settings.trace = variable("AYATORI_TRACE");
  settings.neighbours = variable("AYATORI_NEIGHBOURS");
  settings.reports = variable("AYATORI_COLLECTIVES_REPORT") == "1";
  begin(std::move(settings), read_table(variable("AYATORI_COLLECTIVES")));
}

void begin(Settings settings, collectives::ScheduleTable table) {
  Library& s = library();
  PMPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &s.size);
  s.is_open_mpi = calls_itself("Open MPI");
  s.settings = std::move(settings);
  MPI_Comm parent = MPI_COMM_NULL;  // what a job spawns would overwrite the trace of the job
  PMPI_Comm_get_parent(&parent);
  s.is_tracing = !s.settings.trace.empty() && parent == MPI_COMM_NULL;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_facts, &s.keyval, nullptr);
  begin_schedules(std::move(table));
  s.is_active = true;
}

void forget(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, library().keyval, &value, &is_there);
  if (is_there != 0) PMPI_Comm_delete_attr(comm, library().keyval);
}

void end() {
  Library& s = library();
  if (!s.is_active) return;
  end_schedules();
  if (s.is_tracing) write_trace(s.settings.trace);
  s.is_active = false;
  s.world = nullptr;
  forget(MPI_COMM_SELF);
  forget(MPI_COMM_WORLD);
}

void say(const std::string& text) {
  const std::string line = "ayatori: " + text + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace ayatori::pmpi
