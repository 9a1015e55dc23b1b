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

# ayatori_library(module...): the target ayatori::ayatori, all modules at once: their archives, or with AYATORI_SHARED_CORE the shared
# library ayatori_core, of which other files see the names of namespace ayatori.
function(ayatori_library)
  list(TRANSFORM ARGN PREPEND ayatori:: OUTPUT_VARIABLE modules)
  list(TRANSFORM ARGN PREPEND ayatori_ OUTPUT_VARIABLE targets)
  add_library(ayatori INTERFACE)
  add_library(ayatori::ayatori ALIAS ayatori)
  if(AYATORI_SHARED_CORE)
    list(TRANSFORM targets REPLACE ".+" "$<TARGET_OBJECTS:\\0>" OUTPUT_VARIABLE objects)
    add_library(ayatori_core SHARED ${objects})
    target_link_libraries(ayatori_core PRIVATE ${modules})
    # Symbolic: it calls its own functions, compiled for the same processor, whatever inline ones the program has as well.
    target_link_options(ayatori_core PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/core.map
                        LINKER:-Bsymbolic,--as-needed,--strip-all)
    set_target_properties(ayatori_core PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/core.map)
    foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES)
      foreach(target IN LISTS targets)
        set_property(TARGET ayatori APPEND PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:${target},INTERFACE_${property}>)
      endforeach()
    endforeach()
    target_link_libraries(ayatori INTERFACE ayatori_core OpenMP::OpenMP_CXX fmt::fmt nlohmann_json::nlohmann_json)
  else()
    target_link_libraries(ayatori INTERFACE ${modules})
  endif()
  set(AYATORI_TARGETS ayatori ${targets} PARENT_SCOPE)
endfunction()
