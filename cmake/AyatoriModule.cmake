# ayatori_module(name [DEPENDS module...] [LIBRARIES target...] [PRIVATE_LIBRARIES target...])
#
# The library ayatori_<name> (alias ayatori::<name>) from every .cpp in src/ayatori/<name>: a new file needs no line here.
# pmpi/ in a module's folder is a library of its own, and comm/runtime/ takes the place of an MPI that is linked. DEPENDS are modules, LIBRARIES show in the module's headers, PRIVATE_LIBRARIES do not.
function(ayatori_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ayatori/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX /pmpi/)
  if(NOT AYATORI_MPI STREQUAL runtime)
    list(FILTER sources EXCLUDE REGEX /comm/runtime/)
  endif()
  add_library(ayatori_${name} STATIC ${sources})
  add_library(ayatori::${name} ALIAS ayatori_${name})
  set_target_properties(ayatori_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(ayatori_${name} PUBLIC cxx_std_20)
  target_include_directories(ayatori_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
  list(TRANSFORM ARG_DEPENDS PREPEND ayatori::)
  target_link_libraries(ayatori_${name}
    PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES}
    PRIVATE ${ARG_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:ayatori_compile_options>)
  ayatori_unite(ayatori_${name})
  if(name STREQUAL "base")
    ayatori_precompile(ayatori_base)
  else()
    ayatori_precompile_as(ayatori_${name} ayatori_base)
  endif()
endfunction()

# ayatori_library(module...): the target ayatori::ayatori, all modules at once.
function(ayatori_library)
  list(TRANSFORM ARGN PREPEND ayatori:: OUTPUT_VARIABLE modules)
  add_library(ayatori INTERFACE)
  add_library(ayatori::ayatori ALIAS ayatori)
  target_link_libraries(ayatori INTERFACE ${modules})
  list(TRANSFORM ARGN PREPEND ayatori_ OUTPUT_VARIABLE targets)
  set(AYATORI_TARGETS ayatori ${targets} PARENT_SCOPE)
endfunction()
