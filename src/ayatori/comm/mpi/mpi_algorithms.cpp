#include "ayatori/comm/mpi/mpi_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "ayatori/base/error.hpp"

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

std::string MpiAlgorithm::text() const {
  if (segment_bytes == 0) return name;
  return fmt::format("{}, {} KiB", name, segment_bytes / 1024);
}

void let_algorithms_be_forced() {
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
}

// Simulated MPI has no control variables: algorithms are chosen when it is started. One that is opened is not
// asked.
#if defined AYATORI_SMPI || defined AYATORI_RUNTIME_MPI

MpiAlgorithms::MpiAlgorithms() = default;
std::vector<MpiAlgorithm> MpiAlgorithms::of(std::string_view) const {
  return {};
}
ForcedAlgorithm::ForcedAlgorithm(const MpiAlgorithms&, const MpiAlgorithm&) {}
ForcedAlgorithm::~ForcedAlgorithm() = default;
void ForcedAlgorithm::restore() noexcept {}

#else

namespace {

std::optional<int> find_variable(const std::string& name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  return index;
}

struct VariableInfo {
  std::string description;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  bool can_be_written = false;
};

VariableInfo info_of(int variable) {
  VariableInfo info;
  std::array<char, 4096> description{};
  auto length = static_cast<int>(description.size());
  int no_name = 0;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_T_cvar_get_info(variable, nullptr, &no_name, &verbosity, &type, &info.values,
                                description.data(), &length, &binding, &scope),
            "MPI_T_cvar_get_info");
  info.description = description.data();
  info.can_be_written = type == MPI_INT && scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
  return info;
}

/// Sets an integer, and notes what it has been. Gives the MPI's error code.
int exchange_value(const std::string& name, int value, int& before) {
  int variable = 0;
  int code = MPI_T_cvar_get_index(name.c_str(), &variable);
  if (code != MPI_SUCCESS) return code;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  code = MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count);
  if (code != MPI_SUCCESS) return code;
  code = MPI_T_cvar_read(handle, &before);
  if (code == MPI_SUCCESS) code = MPI_T_cvar_write(handle, &value);
  MPI_T_cvar_handle_free(&handle);
  return code;
}

/// An operation in the names of Open MPI's and MPICH's variables, and what cannot be asked for.
struct Known {
  std::string_view operation;
  std::string_view open_mpi;
  /// That cut what they send into segments of a given length.
  std::string_view segmented;
  std::string_view mpich;
  /// In the order of their numbers, from 1. MPICH's description of the variable has them, but as no list.
  std::string_view mpich_algorithms;
};

constexpr std::array known{
    Known{"barrier", "barrier", "", "BARRIER", "nb smp dissemination"},
    Known{"broadcast", "bcast", " chain pipeline split_binary_tree binary_tree binomial knomial ", "BCAST",
          "binomial nb smp scatter_recursive_doubling_allgather scatter_ring_allgather"},
    Known{"reduce", "reduce", " chain pipeline binary binomial in-order_binary ", "REDUCE",
          "binomial nb smp reduce_scatter_gather"},
    Known{"allreduce", "allreduce", " segmented_ring ", "ALLREDUCE",
          "nb smp recursive_doubling reduce_scatter_allgather"},
    Known{"gather", "gather", "", "GATHER", "binomial nb"},
    Known{"scatter", "scatter", "", "SCATTER", "binomial nb"},
    Known{"allgather", "allgather", "", "ALLGATHER", "brucks nb recursive_doubling ring"},
    Known{"alltoall", "alltoall", "", "ALLTOALL", "brucks nb pairwise pairwise_sendrecv_replace scattered"},
    Known{"reduce-scatter", "reduce_scatter_block", "", "REDUCE_SCATTER_BLOCK",
          "noncommutative recursive_doubling pairwise recursive_halving nb"}};

/// The variable names its values.
std::vector<MpiAlgorithm> algorithms_of_open_mpi(const Known& operation) {
  const auto variable = fmt::format("coll_tuned_{}_algorithm", operation.open_mpi);
  const auto segment_variable = variable + "_segmentsize";
  // It can be written, but nobody reads it, unless the MPI was started so.
  const char* rules = std::getenv("OMPI_MCA_coll_tuned_use_dynamic_rules");
  if (rules == nullptr || *rules != '1') return {};
  const auto found = find_variable(variable);
  const bool has_segments = find_variable(segment_variable).has_value();  // a barrier has none
  if (!found) return {};
  const auto info = info_of(*found);
  if (!info.can_be_written || info.values == MPI_T_ENUM_NULL) return {};
  int count = 0;
  int no_name = 0;
  check_mpi(MPI_T_enum_get_info(info.values, &count, nullptr, &no_name), "MPI_T_enum_get_info");
  std::vector<MpiAlgorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    std::array<char, 128> name{};
    auto length = static_cast<int>(name.size());
    int number = 0;
    check_mpi(MPI_T_enum_get_item(info.values, i, &number, name.data(), &length), "MPI_T_enum_get_item");
    if (number == 0) continue;  // that is: none is forced
    const bool is_segmented =
        operation.segmented.find(fmt::format(" {} ", name.data())) != std::string_view::npos;
    for (const int segment_bytes : {0, 16 * 1024, 128 * 1024}) {
      if (segment_bytes > 0 && !is_segmented) continue;
      MpiAlgorithm& algorithm =
          algorithms.emplace_back(MpiAlgorithm{name.data(), number, segment_bytes, {{variable, number}}});
      if (has_segments) algorithm.variables.emplace_back(segment_variable, segment_bytes);
    }
  }
  return algorithms;
}

std::vector<MpiAlgorithm> algorithms_of_mpich(const Known& operation) {
  const auto variable = fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", operation.mpich);
  const auto found = find_variable(variable);
  if (!found) return {};
  const auto description = info_of(*found).description;
  std::vector<MpiAlgorithm> algorithms;
  std::size_t place = 0;
  std::size_t begin = 0;
  while (begin < operation.mpich_algorithms.size()) {
    const auto end = std::min(operation.mpich_algorithms.find(' ', begin), operation.mpich_algorithms.size());
    const std::string name(operation.mpich_algorithms.substr(begin, end - begin));
    begin = end + 1;
    place = description.find(name + " ", place);
    if (place == std::string::npos) return {};  // another version, whose numbers mean something else
    const int number = static_cast<int>(algorithms.size()) + 1;
    algorithms.push_back({name, number, 0, {{variable, number}}});
  }
  return algorithms;
}

}  // namespace

MpiAlgorithms::MpiAlgorithms() {
  static const int code = [] {
    int provided = 0;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  }();
  check_mpi(code, "MPI_T_init_thread");
}

std::vector<MpiAlgorithm> MpiAlgorithms::of(std::string_view operation) const {
  const auto* found = std::ranges::find(known, operation, &Known::operation);
  if (found == known.end()) return {};
  auto algorithms = algorithms_of_open_mpi(*found);
  return algorithms.empty() ? algorithms_of_mpich(*found) : algorithms;
}

ForcedAlgorithm::ForcedAlgorithm(const MpiAlgorithms&, const MpiAlgorithm& algorithm) {
  for (const auto& [name, value] : algorithm.variables) {
    int before = 0;
    const int code = exchange_value(name, value, before);
    if (code != MPI_SUCCESS) restore();
    check_mpi(code, name.c_str());
    before_.emplace_back(name, before);
  }
}

ForcedAlgorithm::~ForcedAlgorithm() {
  restore();
}

void ForcedAlgorithm::restore() noexcept {
  int forced = 0;
  for (const auto& [name, value] : before_) exchange_value(name, value, forced);
}

#endif

}  // namespace ayatori::comm
