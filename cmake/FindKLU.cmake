# KLU (SuiteSparse: complete factors of matrices without dense parts) with its orderings: target KLU::KLU.
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
foreach(name KLU AMD BTF)
  string(TOLOWER ${name} lower)
  find_library(${name}_LIBRARY ${lower})
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU REQUIRED_VARS KLU_LIBRARY AMD_LIBRARY BTF_LIBRARY KLU_INCLUDE_DIR)
set(KLU_LIBRARIES ${KLU_LIBRARY} ${AMD_LIBRARY} ${BTF_LIBRARY})
if(KLU_FOUND AND NOT TARGET KLU::KLU)
  add_library(KLU::KLU UNKNOWN IMPORTED)
  set_target_properties(KLU::KLU PROPERTIES
    IMPORTED_LOCATION "${KLU_LIBRARY}" INTERFACE_LINK_LIBRARIES "${AMD_LIBRARY};${BTF_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}")
endif()
mark_as_advanced(KLU_INCLUDE_DIR KLU_LIBRARY AMD_LIBRARY BTF_LIBRARY)
