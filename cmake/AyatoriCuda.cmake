# Device code for NVIDIA GPUs: ayatori_cuda(target) adds what nvcc makes of the .cu files in the folder cuda/ of the target's module.
# Without it the target is built all the same, without the definition AYATORI_HAS_CUDA.
#
# nvcc is called by commands: CMake 3.25 knows neither how this compiler is told C++20 nor where NVIDIA's wheels keep the libraries.
# The runtime is linked as an archive, which looks for the driver when the program asks for a device. So programs start without a driver.
#
# Of the stages of CI, dev alone compiles device code. They differ in the MPI and in sanitizers, of which nvcc knows nothing: the other
# presets of tests turn it off. Simulated ranks have no device.
set(AYATORI_CUDA AUTO CACHE STRING "Device code for NVIDIA GPUs (AUTO: where nvcc is found, ON, OFF)")
set_property(CACHE AYATORI_CUDA PROPERTY STRINGS AUTO ON OFF)
set(AYATORI_CUDA_ARCHITECTURES 80 90 CACHE STRING "Kinds of GPU that device code is compiled for; later ones compile the last of these when they run it")
set(AYATORI_CUDA_COMPILER "" CACHE FILEPATH "nvcc; looked for in CUDACXX, PATH, /usr/local/cuda and .venv where this is empty")
set(AYATORI_CUDA_RUNTIME "")  # the runtime's archive, where device code is compiled

# ayatori_nvcc_obstacle(obstacle nvcc): what keeps us from using it, or nothing, and then AYATORI_CUDA_VERSION and AYATORI_CUDA_RUNTIME.
function(ayatori_nvcc_obstacle obstacle nvcc)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status STREQUAL 0 OR NOT said MATCHES ", V([0-9.]+)")
    set(${obstacle} "it does not tell its version" PARENT_SCOPE)
    return()
  endif()
  set(version ${CMAKE_MATCH_1})
  if(version VERSION_LESS 12.4)
    set(${obstacle} "it is of CUDA ${version}, want 12.4 or later" PARENT_SCOPE)
    return()
  endif()

  # Toolkits have lib64, wheels lib, and some toolkits a folder for each kind of machine.
  file(REAL_PATH ${nvcc} real)
  cmake_path(GET real PARENT_PATH folder)
  cmake_path(GET folder PARENT_PATH folder)
  find_library(runtime libcudart_static.a NO_CACHE HINTS ${folder}
               PATH_SUFFIXES lib64 lib targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib)
  if(NOT runtime)
    set(${obstacle} "there is no libcudart_static.a beside it" PARENT_SCOPE)
    return()
  endif()

  # Each nvcc knows compilers and GPUs up to its own time.
  set(tried "${nvcc} ${version} ${AYATORI_CUDA_FLAGS}")
  if(NOT tried STREQUAL AYATORI_CUDA_WORKS)
    set(scratch ${PROJECT_BINARY_DIR}/CMakeFiles/ayatori_cuda)
    file(WRITE ${scratch}/check.cu "#include <concepts>
template <std::floating_point T>
__global__ void scale(T* x, T factor) {
  x[threadIdx.x] *= factor;
}
template __global__ void scale(double*, double);
")
    execute_process(COMMAND ${nvcc} ${AYATORI_CUDA_FLAGS} -c ${scratch}/check.cu -o ${scratch}/check.o
                    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT status STREQUAL 0)
      string(REGEX MATCH "[^\n]*([Ee]rror|fatal|unsupported)[^\n]*" why "${said}")
      set(${obstacle} "it does not compile with ${CMAKE_CXX_COMPILER}: ${why}" PARENT_SCOPE)
      return()
    endif()
    set(AYATORI_CUDA_WORKS ${tried} CACHE INTERNAL "what nvcc has been tried with")
  endif()
  set(${obstacle} "" PARENT_SCOPE)
  set(AYATORI_CUDA_VERSION ${version} PARENT_SCOPE)
  set(AYATORI_CUDA_RUNTIME ${runtime} PARENT_SCOPE)
endfunction()

string(TOUPPER "${AYATORI_CUDA}" wanted)
if(NOT wanted MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "AYATORI_CUDA is ${AYATORI_CUDA}, but must be AUTO, ON or OFF")
endif()
if(AYATORI_SMPI AND wanted STREQUAL ON)
  message(FATAL_ERROR "AYATORI_CUDA=ON: simulated ranks have no device")
endif()

# Position-independent, for libayatori.so and the Python package. Relaxed: kernels may call constexpr functions, as of std::array.
# What nvcc writes around kernels is not fit for stricter warnings.
set(warnings -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND warnings -Wno-psabi -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)  # AyatoriSettings.cmake tells why
endif()
set(strictly "")
if(warnings_are_errors)
  set(strictly -Werror all-warnings)
  list(APPEND warnings -Werror)
endif()
list(JOIN warnings , warnings)
set(AYATORI_CUDA_FLAGS -std=c++20 -O3 --expt-relaxed-constexpr -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler=-fPIC,${warnings} ${strictly})
foreach(architecture IN LISTS AYATORI_CUDA_ARCHITECTURES)
  list(APPEND AYATORI_CUDA_FLAGS -gencode=arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(GET AYATORI_CUDA_ARCHITECTURES -1 architecture)
list(APPEND AYATORI_CUDA_FLAGS -gencode=arch=compute_${architecture},code=compute_${architecture})

if(NOT wanted STREQUAL OFF AND NOT AYATORI_SMPI AND NOT CMAKE_CROSSCOMPILING)
  if(NOT EXISTS "${AYATORI_CUDA_COMPILER}")
    find_program(in_path nvcc NO_CACHE)
    file(GLOB in_wheels ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
    set(candidates $ENV{CUDACXX} ${in_path} /usr/local/cuda/bin/nvcc ${in_wheels})
  else()
    set(candidates ${AYATORI_CUDA_COMPILER})
  endif()
  foreach(candidate IN LISTS candidates)
    find_program(nvcc ${candidate} NO_CACHE)  # CUDACXX may be a name
    if(nvcc)
      ayatori_nvcc_obstacle(obstacle ${nvcc})
      if(NOT obstacle)
        set_property(CACHE AYATORI_CUDA_COMPILER PROPERTY VALUE ${nvcc})
        break()
      endif()
      message(STATUS "Passed over ${nvcc}: ${obstacle}")
    endif()
    unset(nvcc)
  endforeach()
  if(AYATORI_CUDA_RUNTIME)
    list(TRANSFORM AYATORI_CUDA_ARCHITECTURES PREPEND sm_ OUTPUT_VARIABLE kinds)
    list(JOIN kinds ", " kinds)
    message(STATUS "Device code by nvcc ${AYATORI_CUDA_VERSION} (${AYATORI_CUDA_COMPILER}) for ${kinds}")
  elseif(wanted STREQUAL ON)
    message(FATAL_ERROR "AYATORI_CUDA=ON: there is no CUDA compiler of 12.4 or later that works; cmake/setup.sh --tests installs one in .venv")
  else()
    message(STATUS "No CUDA compiler: built without device code")
  endif()
endif()

# ayatori_cuda(target): for the target ayatori_<module>, src/ayatori/<module>/cuda/*.cu.
function(ayatori_cuda target)
  if(NOT AYATORI_CUDA_RUNTIME)
    return()
  endif()
  string(REGEX REPLACE "^ayatori_" "" module ${target})
  set(folder src/ayatori/${module}/cuda)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_SOURCE_DIR}/${folder}/*.cu)
  set(launcher "")
  if(AYATORI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(launcher ${AYATORI_CCACHE})
  endif()
  # As the target's other files, but for assertions of the standard library, whose failure is a function of the processor's alone.
  set(includes $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>)
  set(definitions $<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,EXCLUDE,_GLIBCXX_ASSERTIONS>)
  foreach(source IN LISTS sources)
    set(object ${PROJECT_BINARY_DIR}/${folder}/${source}.o)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    add_custom_command(OUTPUT ${object}
      COMMAND ${launcher} ${AYATORI_CUDA_COMPILER} ${AYATORI_CUDA_FLAGS} -I$<JOIN:${includes},$<SEMICOLON>-I>
              -D$<JOIN:${definitions},$<SEMICOLON>-D> -MMD -MF ${object}.d -MT ${object}
              -c ${PROJECT_SOURCE_DIR}/${folder}/${source} -o ${object}
      DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${source} ${AYATORI_CUDA_COMPILER}
      DEPFILE ${object}.d COMMENT "Compiling ${folder}/${source} for devices" COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(${target} PRIVATE ${object})
  endforeach()
  target_compile_definitions(${target} PRIVATE AYATORI_HAS_CUDA)
  # Installed programs link a copy of the runtime (AyatoriInstall.cmake): wheels in the sources' folder may go with it.
  include(GNUInstallDirs)
  target_link_libraries(${target} PRIVATE
    $<BUILD_INTERFACE:${AYATORI_CUDA_RUNTIME}>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/ayatori/libcudart_static.a>
    ${CMAKE_DL_LIBS} rt Threads::Threads)
endfunction()
