#include "ayatori/comm/environment.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi/native.hpp"
#ifdef AYATORI_RUNTIME_MPI
#include "ayatori/comm/runtime/choice.hpp"
#endif

namespace ayatori::comm {
namespace {

/** Whether a launcher (mpirun, or srun through PMIx or PMI) started this process, and perhaps others. */
bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMI_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

/// MPI calls it as it deletes the attribute of MPI_COMM_SELF that before_mpi_ends() set.
int call_at_end(MPI_Comm, int, void* attribute, void*) {
  const std::unique_ptr<std::function<void()>> function(static_cast<std::function<void()>*>(attribute));
  (*function)();
  return MPI_SUCCESS;
}

#ifdef AYATORI_RUNTIME_MPI
void prepare() {
  choose_transport();
}
void check_ranks() {
  check_launched_ranks();
}
#else  // the MPI that is linked is the application's
void prepare() {}
void check_ranks() {}
#endif

}  // namespace

Environment::Environment(int& argc, char**& argv) {
  prepare();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) throw EnvironmentError("MPI has ended in this process, and cannot begin again");
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) {
    check_ranks();
    return;
  }
  if (!launched()) {
    // Open MPI would fork a daemon to be able to spawn processes, which nothing here does, and make a folder
    // whose name all processes of the user without a launcher share: one that ends takes it from one that
    // begins, which then aborts.
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  }
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
#ifndef AYATORI_SMPI  // simulated ranks are threads themselves: it grants none, and none are used
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw EnvironmentError("this MPI library was built without threads (MPI_THREAD_FUNNELED): use another");
  }
#endif
  owner_ = true;
  check_ranks();
}

Environment::~Environment() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owner_ && finalized == 0) MPI_Finalize();
}

// The attributes of MPI_COMM_SELF are the first that MPI_Finalize takes down (MPI 4.1, 11.2.4).
void before_mpi_ends(std::function<void()> function) {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_at_end, &key, nullptr),
            "MPI_Comm_create_keyval");
  auto held = std::make_unique<std::function<void()>>(std::move(function));
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, held.get()), "MPI_Comm_set_attr");
  held.release();
  check_mpi(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");  // when the attribute goes
}

void abort_job(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::abort();
}

const char* mpi_version() {
  static const std::string version = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, length);
    return all.substr(0, all.find_first_of(",\n"));
  }();
  return version.c_str();
}

}  // namespace ayatori::comm
