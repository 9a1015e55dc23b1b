#include <algorithm>
#include <memory>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/comm.hpp"
#include "eigen_peer.hpp"

extern "C" {
// As elpa.h has them, which is C of a dialect that C++ compilers do not read.
struct elpa_struct;
int elpa_init(int version);
elpa_struct* elpa_allocate(int* error);
int elpa_setup(elpa_struct* handle);
void elpa_set_integer(elpa_struct* handle, const char* name, int value, int* error);
void elpa_eigenvectors_a_h_a_d(elpa_struct* handle, double* a, double* values, double* vectors, int* error);
void elpa_deallocate(elpa_struct* handle, int* error);
}

namespace ayatori::bench {

namespace {

constexpr int api_version = 20211125;
constexpr int all_ranks = 0;  // MPI_COMM_WORLD of Open MPI's Fortran, which Debian's ELPA is built with

/// A problem that ELPA is set up for.
struct Problem {
  elpa_struct* handle;
  std::vector<double> a;
  std::vector<double> z;
  std::vector<double> w;

  Problem(const BlockCyclic& layout, int stages, const std::vector<double>& whole, int n)
      : a(layout.share(whole, n)), z(a.size()), w(n) {
    int error = 0;
    handle = elpa_allocate(&error);
    const auto set = [&](const char* name, int value) {
      elpa_set_integer(handle, name, value, &error);
      if (error != 0) throw EnvironmentError(fmt::format("ELPA refuses {} = {}", name, value));
    };
    set("na", n);
    set("nev", n);
    set("local_nrows", static_cast<int>(layout.rows(n).size()));
    set("local_ncols", static_cast<int>(layout.columns(n).size()));
    set("nblk", BlockCyclic::block);
    set("mpi_comm_parent", all_ranks);
    set("process_row", layout.row);
    set("process_col", layout.column);
    if (elpa_setup(handle) != 0) throw EnvironmentError("ELPA cannot be set up");
    set("solver", stages);
  }
  ~Problem() {
    int error = 0;
    elpa_deallocate(handle, &error);
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::vector<double> solve() {
    int error = 0;
    elpa_eigenvectors_a_h_a_d(handle, a.data(), w.data(), z.data(), &error);
    if (error != 0) throw EnvironmentError(fmt::format("ELPA fails: {}", error));
    return w;
  }
};

}  // namespace

std::vector<EigenPeer> elpa_peers(eigen::GridShape shape) {
  if (elpa_init(api_version) != 0) throw EnvironmentError("this ELPA has another interface");
  const BlockCyclic layout(shape, comm::Comm::world().rank());
  const auto peer = [&](const char* name, int stages) {
    return EigenPeer{name, true, [=](const std::vector<double>& a, int n) {
                       const auto problem = std::make_shared<Problem>(layout, stages, a, n);
                       return [=] { return problem->solve(); };
                     }};
  };
  return {peer("elpa-1", 1), peer("elpa-2", 2)};
}

}  // namespace ayatori::bench
