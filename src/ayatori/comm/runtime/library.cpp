#include "ayatori/comm/runtime/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/runtime/single.hpp"

namespace ayatori::comm {

namespace {

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// The file that has the library's functions, which may be another than the one that was opened.
std::string path_of(const void* function) {
  Dl_info facts{};
  return dladdr(function, &facts) != 0 && facts.dli_fname != nullptr ? facts.dli_fname : "";
}

int note_path(dl_phdr_info* object, std::size_t, void* paths) {
  const std::string_view name = name_in(object->dlpi_name);
  if (name.starts_with("libmpi") && !name.starts_with("libmpiseq"))
    static_cast<std::vector<std::string>*>(paths)->emplace_back(object->dlpi_name);
  return 0;
}

/// MPICH's own calls, where it has arrays of requests of 32 bits.
Functions& mpich() {
  static Functions functions{};
  return functions;
}

/// Requests as MPICH has them, for a call, and back.
class NarrowRequests {
 public:
  NarrowRequests(int count, MPI_Request* requests)
      : wide_(requests), narrow_(static_cast<std::size_t>(count)) {
    for (std::size_t k = 0; k < narrow_.size(); ++k)
      narrow_[k] = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(wide_[k]));
  }
  ~NarrowRequests() {
    for (std::size_t k = 0; k < narrow_.size(); ++k) wide_[k] = handle_of<MPI_Request>(narrow_[k]);
  }
  NarrowRequests(const NarrowRequests&) = delete;
  NarrowRequests& operator=(const NarrowRequests&) = delete;

  MPI_Request* data() { return reinterpret_cast<MPI_Request*>(narrow_.data()); }

 private:
  MPI_Request* wide_;
  std::vector<std::uint32_t> narrow_;
};

int start_all_of_mpich(int count, MPI_Request* requests) {
  NarrowRequests narrow(count, requests);
  return mpich().Startall(count, narrow.data());
}

int wait_all_of_mpich(int count, MPI_Request* requests, MPI_Status* statuses) {
  NarrowRequests narrow(count, requests);
  return mpich().Waitall(count, narrow.data(), statuses);
}

int wait_any_of_mpich(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  NarrowRequests narrow(count, requests);
  return mpich().Waitany(count, narrow.data(), index, status);
}

MPI_Fint number_of_mpich(MPI_Comm comm) {
  return static_cast<MPI_Fint>(reinterpret_cast<std::uintptr_t>(comm));
}

MPI_Comm comm_of_mpich(MPI_Fint handle) {
  return handle_of<MPI_Comm>(static_cast<std::uint32_t>(handle));
}

void use_mpich(const MpiLibrary& library, Transport& transport) {
  transport.constants = constants_of_mpich();
  transport.handle_bytes = sizeof(std::int32_t);
  if (void* const unweighted = library.find("MPI_UNWEIGHTED"))
    transport.constants.unweighted = *static_cast<int**>(unweighted);
  mpich() = transport.functions;
  transport.functions.Startall = start_all_of_mpich;
  transport.functions.Waitall = wait_all_of_mpich;
  transport.functions.Waitany = wait_any_of_mpich;
  transport.functions.Comm_c2f = number_of_mpich;
  transport.functions.Comm_f2c = comm_of_mpich;
}

void find_fortran_handles(const MpiLibrary& library, const char* to, const char* from, Transport& transport) {
  void* const c2f = library.find(to);
  void* const f2c = library.find(from);
  if (c2f == nullptr || f2c == nullptr)
    throw EnvironmentError(fmt::format("{} has no {}: it is no complete MPI", library.path, to));
  transport.functions.Comm_c2f = reinterpret_cast<decltype(Functions::Comm_c2f)>(c2f);
  transport.functions.Comm_f2c = reinterpret_cast<decltype(Functions::Comm_f2c)>(f2c);
}

std::string version_of(const Transport& transport) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  transport.functions.Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

const Constants& constants_of_mpich() {
  static const Constants table{.comm_null = handle_of<MPI_Comm>(0x04000000),
                               .comm_world = handle_of<MPI_Comm>(0x44000000),
                               .comm_self = handle_of<MPI_Comm>(0x44000001),
                               .byte = handle_of<MPI_Datatype>(0x4c00010d),
                               .int32 = handle_of<MPI_Datatype>(0x4c000439),
                               .int64 = handle_of<MPI_Datatype>(0x4c00083a),
                               .uint64 = handle_of<MPI_Datatype>(0x4c00083e),
                               .float32 = handle_of<MPI_Datatype>(0x4c00040a),
                               .float64 = handle_of<MPI_Datatype>(0x4c00080b),
                               .sum = handle_of<MPI_Op>(0x58000003),
                               .min = handle_of<MPI_Op>(0x58000002),
                               .max = handle_of<MPI_Op>(0x58000001),
                               .bitwise_or = handle_of<MPI_Op>(0x58000008),
                               .request_null = handle_of<MPI_Request>(0x2c000000),
                               .win_null = handle_of<MPI_Win>(0x20000000),
                               .info_null = handle_of<MPI_Info>(0x1c000000),
                               .errhandler_null = handle_of<MPI_Errhandler>(0x14000000),
                               .errors_are_fatal = handle_of<MPI_Errhandler>(0x54000000),
                               .errors_return = handle_of<MPI_Errhandler>(0x54000001),
                               .in_place = handle_of<void*>(~std::uintptr_t{0}),
                               .unweighted = nullptr,
                               .status_ignore = handle_of<MPI_Status*>(1),
                               .no_copy = nullptr,
                               .undefined = -32766,
                               .comm_type_shared = 1,
                               .thread_single = 0,
                               .thread_funneled = 1,
                               .no_check = 1024,
                               .keyval_invalid = 0x24000000};
  return table;
}

Constants constants_of_open_mpi(const MpiLibrary& library) {
  const auto find = [&library]<class Handle>(const char* name, Handle& handle) {
    void* const found = library.find(name);
    if (found == nullptr) throw EnvironmentError(fmt::format("{} has no {}", library.path, name));
    handle = reinterpret_cast<Handle>(found);
  };
  Constants constants{.in_place = handle_of<void*>(1),
                      .unweighted = handle_of<int*>(2),
                      .undefined = -32766,
                      .comm_type_shared = 0,
                      .thread_single = 0,
                      .thread_funneled = 1,
                      .no_check = 1,
                      .keyval_invalid = -1};
  find("ompi_mpi_comm_null", constants.comm_null);
  find("ompi_mpi_comm_world", constants.comm_world);
  find("ompi_mpi_comm_self", constants.comm_self);
  find("ompi_mpi_byte", constants.byte);
  find("ompi_mpi_int32_t", constants.int32);
  find("ompi_mpi_int64_t", constants.int64);
  find("ompi_mpi_uint64_t", constants.uint64);
  find("ompi_mpi_float", constants.float32);
  find("ompi_mpi_double", constants.float64);
  find("ompi_mpi_op_sum", constants.sum);
  find("ompi_mpi_op_min", constants.min);
  find("ompi_mpi_op_max", constants.max);
  find("ompi_mpi_op_bor", constants.bitwise_or);
  find("ompi_request_null", constants.request_null);
  find("ompi_mpi_win_null", constants.win_null);
  find("ompi_mpi_info_null", constants.info_null);
  find("ompi_mpi_errhandler_null", constants.errhandler_null);
  find("ompi_mpi_errors_are_fatal", constants.errors_are_fatal);
  find("ompi_mpi_errors_return", constants.errors_return);
  find("OMPI_C_MPI_COMM_NULL_COPY_FN", constants.no_copy);
  return constants;
}

void* MpiLibrary::find(const char* name) const {
  return dlsym(handle, name);
}

bool MpiLibrary::has_begun() const {
  int begun = 0;
  int ended = 0;
  reinterpret_cast<int (*)(int*)>(find("MPI_Initialized"))(&begun);
  reinterpret_cast<int (*)(int*)>(find("MPI_Finalized"))(&ended);
  return begun != 0 && ended == 0;
}

std::vector<MpiLibrary> loaded_mpi_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(note_path, &paths);
  std::vector<MpiLibrary> libraries;
  for (const std::string& path : paths) {
    void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    const void* const function = handle == nullptr ? nullptr : dlsym(handle, "MPI_Initialized");
    if (function == nullptr) continue;
    const std::string owner = path_of(function);
    if (std::ranges::find(libraries, owner, &MpiLibrary::path) == libraries.end())
      libraries.push_back({handle, owner});
  }
  return libraries;
}

MpiLibrary open_mpi_library(const std::string& name, std::string& why) {
  // Plug-ins of MPIs take for granted that their functions are found everywhere.
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (handle == nullptr) {
    why = dlerror();
    return {};
  }
  const void* const function = dlsym(handle, "MPI_Initialized");
  if (function != nullptr) return {handle, path_of(function)};
  why = name + " is no MPI library";
  return {};
}

Transport transport_of(const MpiLibrary& library) {
  Transport transport{};
#define AYATORI_FIND(name, parameters, arguments)                                                     \
  transport.functions.name = reinterpret_cast<decltype(Functions::name)>(library.find("MPI_" #name)); \
  if (transport.functions.name == nullptr)                                                            \
    throw EnvironmentError(fmt::format("{} has no MPI_" #name ": it is no complete MPI", library.path));
  AYATORI_MPI_FUNCTIONS(AYATORI_FIND)
#undef AYATORI_FIND
  if (name_in(library.path).starts_with("libmpi_abi.")) {
    transport.constants = constants_of_abi();
    find_fortran_handles(library, "MPI_Comm_toint", "MPI_Comm_fromint", transport);
    return transport;
  }
  if (library.find("ompi_mpi_comm_world") != nullptr) {
    transport.constants = constants_of_open_mpi(library);
    find_fortran_handles(library, "MPI_Comm_c2f", "MPI_Comm_f2c", transport);
    return transport;
  }
  const std::string version = version_of(transport);
  for (const char* relative : {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"}) {
    if (version.find(relative) == std::string::npos) continue;
    use_mpich(library, transport);
    return transport;
  }
  throw EnvironmentError(
      fmt::format("{} ({}) is no MPI that this build can call: it knows Open MPI, MPICH with its "
                  "relatives, and libmpi_abi.so",
                  library.path, version.substr(0, version.find_first_of(",\n"))));
}

}  // namespace ayatori::comm
