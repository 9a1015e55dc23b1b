# What this build was made from, by what and with which libraries, as the constants that src/ayatori/session/build_info.cpp includes, in
# <build>/generated/ayatori/session/build_constants.hpp. The commit is that of the time of configuration.

# ayatori_library_in_build(name version): one more line of the list; the version may be empty.
function(ayatori_library_in_build name version)
  set_property(GLOBAL APPEND_STRING PROPERTY AYATORI_LIBRARIES_IN_BUILD "    {\"${name}\", \"${version}\"},\n")
endfunction()

# ayatori_library_by_header(name header macro... [NOTE text]): one whose version macros of a header say, with dots between.
function(ayatori_library_by_header name header)
  cmake_parse_arguments(ARG "" NOTE "" ${ARGN})
  set(parts "")
  foreach(macro IN LISTS ARG_UNPARSED_ARGUMENTS)
    file(STRINGS ${header} line REGEX "^ *#define +${macro}[ \t]" LIMIT_COUNT 1)
    string(REGEX MATCH "${macro}[ \t(]+\"?([0-9][0-9.]*)" line "${line}")
    list(APPEND parts ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN parts "." version)
  ayatori_library_in_build(${name} "${version}${ARG_NOTE}")
endfunction()

execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" flags)
if(AYATORI_NATIVE)
  string(APPEND flags " -march=native")
endif()
if(AYATORI_SANITIZE)
  string(APPEND flags " -fsanitize=${AYATORI_SANITIZE}")
endif()

ayatori_library_in_build(OpenMP "${OpenMP_CXX_VERSION}")
set(blas "")
foreach(library IN LISTS LAPACK_LIBRARIES BLAS_LIBRARIES)
  if(EXISTS "${library}")
    file(REAL_PATH ${library} library)
    cmake_path(GET library STEM LAST_ONLY library)
    list(APPEND blas ${library})
  endif()
endforeach()
list(REMOVE_DUPLICATES blas)
list(JOIN blas " " blas)
ayatori_library_in_build("BLAS and LAPACK" "${blas}")
ayatori_library_by_header(METIS ${METIS_INCLUDE_DIR}/metis.h METIS_VER_MAJOR METIS_VER_MINOR METIS_VER_SUBMINOR)
if(MUMPS IN_LIST AYATORI_MPI_LIBRARIES)
  set(note "")
  if(AYATORI_SEQUENTIAL_MUMPS)
    set(note " (sequential)")
  endif()
  ayatori_library_by_header(MUMPS ${MUMPS_INCLUDE_DIR}/dmumps_c.h MUMPS_VERSION NOTE "${note}")
endif()
if(HYPRE IN_LIST AYATORI_MPI_LIBRARIES)
  ayatori_library_by_header(hypre ${HYPRE_INCLUDE_DIR}/HYPRE_config.h HYPRE_RELEASE_VERSION)
endif()
if(PTSCOTCH IN_LIST AYATORI_MPI_LIBRARIES)
  ayatori_library_by_header(PT-Scotch ${PTSCOTCH_INCLUDE_DIR}/scotch.h SCOTCH_VERSION SCOTCH_RELEASE SCOTCH_PATCHLEVEL)
endif()
if(KLU_FOUND)
  ayatori_library_by_header(KLU ${KLU_INCLUDE_DIR}/klu.h KLU_MAIN_VERSION KLU_SUB_VERSION KLU_SUBSUB_VERSION)
endif()
if(AYATORI_CUDA_VERSION)
  ayatori_library_in_build(CUDA "${AYATORI_CUDA_VERSION}")
endif()
ayatori_library_in_build(hwloc "")
ayatori_library_in_build(zlib "${ZLIB_VERSION_STRING}")
if(AYATORI_BZIP2_LIBRARY)
  ayatori_library_in_build(bzip2 "")
endif()
if(AYATORI_LZMA_LIBRARY)
  ayatori_library_by_header(lzma ${AYATORI_LZMA_INCLUDE_DIR}/lzma/version.h LZMA_VERSION_MAJOR LZMA_VERSION_MINOR LZMA_VERSION_PATCH)
endif()
if(AYATORI_ZSTD_LIBRARY)
  ayatori_library_by_header(zstd ${AYATORI_ZSTD_INCLUDE_DIR}/zstd.h ZSTD_VERSION_MAJOR ZSTD_VERSION_MINOR ZSTD_VERSION_RELEASE)
endif()
if(AYATORI_HDF5_FOUND)
  ayatori_library_by_header(HDF5 ${AYATORI_HDF5_INCLUDE_DIR}/H5public.h H5_VERS_MAJOR H5_VERS_MINOR H5_VERS_RELEASE)
endif()
ayatori_library_in_build(fmt "${fmt_VERSION}")
ayatori_library_in_build("JSON for Modern C++" "${nlohmann_json_VERSION}")
ayatori_library_in_build(CLI11 "${CLI11_VERSION}")

get_property(libraries GLOBAL PROPERTY AYATORI_LIBRARIES_IN_BUILD)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/ayatori/session/build_constants.hpp @ONLY CONTENT
"#pragma once

namespace ayatori::session {

inline constexpr const char* built_from_commit = \"@commit@\";
inline constexpr const char* built_by = \"@CMAKE_CXX_COMPILER_ID@ @CMAKE_CXX_COMPILER_VERSION@\";
inline constexpr const char* built_with_flags = \"@flags@\";
inline constexpr const char* built_for = \"@CMAKE_SYSTEM_NAME@ @CMAKE_SYSTEM_PROCESSOR@\";

constexpr LibraryInBuild libraries_in_build[] = {
@libraries@};

}  // namespace ayatori::session
")
