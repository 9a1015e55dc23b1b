# Options of the build, and what every target of the project is compiled with.
option(AYATORI_TESTS "Build the tests" ON)
set(AYATORI_TEST_FOLDERS "" CACHE STRING "Folders of tests/ to build, for example comm;sparse; all when empty")
option(AYATORI_STRICT "Treat warnings as errors and harden the standard library (preset dev)" OFF)
option(AYATORI_NATIVE "Compile for the processor of this machine; OFF for packages and mixed clusters" ON)
set(AYATORI_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
option(AYATORI_KLU "Use KLU, for complete factors without dense parts, where it is found" ON)
option(AYATORI_HDF5 "Read HDF5 files by the HDF5 library, where it is found; OFF for the Python package, which has h5py" ON)
option(AYATORI_INTERFACES "Build and install what other programs use: libraries, headers, PETSc's plug-in, the shim; OFF for the Python package" ON)
set(AYATORI_PETSC AUTO CACHE STRING "Build libayatori_petsc.so for PETSc programs (AUTO: where PETSc is found, ON, OFF)")
option(AYATORI_PYTHON_PACKAGE "Build the Python package; its tests want cmake/setup.sh --tests" OFF)
set(AYATORI_MPI linked CACHE STRING "MPI: linked, or runtime: opened where a program runs on several ranks (the wheel)")
set_property(CACHE AYATORI_MPI PROPERTY STRINGS linked runtime)
option(AYATORI_SHARED_CORE "Link the Python package and the command line with one shared library of all modules (the wheel)" OFF)
option(AYATORI_SMPI "Build with smpicxx for simulated clusters (preset simgrid)" OFF)
set(AYATORI_PRECOMPILE OFF CACHE STRING "Precompile the common headers: a fifth less to compile, and no file's own includes are checked (OFF, TESTS, ON)")
option(AYATORI_UNITY "Compile up to eight files together: half of what is left to compile, and more of it again after an edit" OFF)
option(AYATORI_FUZZ "Build the fuzz targets (preset fuzz)" OFF)
set(AYATORI_FUZZ_SECONDS 15 CACHE STRING "Seconds that ctest runs each fuzz target")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# An object that was compiled before is not compiled again, where ccache is installed and no other launcher is asked for. The property
# does not show in compile_commands.json; precompiled headers need the sloppiness.
find_program(AYATORI_CCACHE ccache)
mark_as_advanced(AYATORI_CCACHE)
if(AYATORI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "env \
CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${AYATORI_CCACHE}")
endif()

# Test programs are many, and each holds the library: where mold is installed, it links them in a fraction of the time.
find_program(AYATORI_MOLD mold)
mark_as_advanced(AYATORI_MOLD)
if(AYATORI_TESTS AND AYATORI_MOLD AND NOT AYATORI_SMPI)
  add_link_options(-fuse-ld=mold)
endif()

# Sanitizers add code about which GCC warns in vain where files are compiled together.
if(AYATORI_STRICT AND NOT (AYATORI_UNITY AND AYATORI_SANITIZE))
  set(warnings_are_errors ON)
else()
  set(warnings_are_errors OFF)
endif()

# Carried by every target of the build tree, and by nothing that is installed.
add_library(ayatori_compile_options INTERFACE)
target_compile_options(ayatori_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-qual -Wformat=2 -Wundef -Wno-missing-field-initializers
  # Kernels with wider registers than the processor of this machine has are always inlined: no call depends on how they are passed.
  -Wno-psabi
  # GCC 12 sees, at -O3 or in many files at once, uninitialized reads where an empty std::optional is moved, and endless copies in
  # "text" + std::string().
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<OR:$<CONFIG:Release>,$<BOOL:${AYATORI_UNITY}>>>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>"
  # What only files show that are compiled together is no mistake: names of one that hide those of another, and unnamed namespaces
  # outside of what GCC takes for the main file.
  $<$<BOOL:${AYATORI_UNITY}>:-Wno-shadow>
  $<$<AND:$<BOOL:${AYATORI_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  $<$<BOOL:${warnings_are_errors}>:-Werror>
  $<$<BOOL:${AYATORI_NATIVE}>:-march=native>)
target_compile_definitions(ayatori_compile_options INTERFACE
  $<$<BOOL:${AYATORI_STRICT}>:_GLIBCXX_ASSERTIONS AYATORI_ASSERTIONS>)
if(AYATORI_SMPI)
  # Simulated ranks share a process: every one loads its own copy of the program, and unique symbols would be one again.
  target_compile_options(ayatori_compile_options INTERFACE -fno-gnu-unique -include ${PROJECT_SOURCE_DIR}/cmake/smpi_fixes.h)
  target_compile_definitions(ayatori_compile_options INTERFACE AYATORI_SMPI)
endif()
if(AYATORI_SANITIZE)
  # Of what is left out a bad address tells as well, and it takes a third of the compiler's time.
  target_compile_options(ayatori_compile_options INTERFACE
    -fsanitize=${AYATORI_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AYATORI_SANITIZE})
endif()
if(AYATORI_FUZZ)
  # Pass-failed: clang does not vectorize at -O1, and says so.
  target_compile_options(ayatori_compile_options INTERFACE -fsanitize=fuzzer-no-link -Wno-pass-failed)
endif()

# ayatori_precompile(target [TEST] [header...]): compiles the target with the common standard headers and these read in advance.
function(ayatori_precompile target)
  cmake_parse_arguments(ARG TEST "" "" ${ARGN})
  if(AYATORI_PRECOMPILE STREQUAL ON OR (ARG_TEST AND AYATORI_PRECOMPILE STREQUAL TESTS))
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional> <span>
      <string> <string_view> <utility> <vector> <fmt/format.h> ${ARG_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# ayatori_precompile_as(target other): with the headers that the other target has read, if any, which must be compiled the same way.
function(ayatori_precompile_as target other)
  get_target_property(headers ${other} PRECOMPILE_HEADERS)
  if(headers)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
