# `cmake --install`: the command, the headers, the libraries, and a package for find_package(ayatori).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ayatori)

install(TARGETS ${AYATORI_TARGETS} EXPORT ayatori ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ayatori_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(plugin ayatori_pmpi ayatori_petsc)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(TARGET ayatori_c)
  install(TARGETS ayatori_c EXPORT ayatori_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES c/ayatori.h c/ayatori.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ayatori_c NAMESPACE ayatori:: FILE ayatoriCTargets.cmake DESTINATION ${package_folder})
endif()
install(DIRECTORY src/ayatori DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp
        REGEX "/comm/runtime$" EXCLUDE)  # of builds without MPI
install(EXPORT ayatori NAMESPACE ayatori:: FILE ayatoriTargets.cmake DESTINATION ${package_folder})

configure_package_config_file(cmake/ayatoriConfig.cmake.in ayatoriConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(ayatoriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ayatoriConfig.cmake ${PROJECT_BINARY_DIR}/ayatoriConfigVersion.cmake
              cmake/FindMETIS.cmake cmake/FindHWLOC.cmake cmake/FindKLU.cmake
        DESTINATION ${package_folder})

# For pkg-config. The libraries are archives: a program links what they need, and whoever depends on another comes before it.
set(pc_modules ${AYATORI_TARGETS})
list(REMOVE_ITEM pc_modules ayatori)
list(REVERSE pc_modules)
list(TRANSFORM pc_modules PREPEND -l)
set(pc_libraries ${pc_modules} ${METIS_LIBRARY} ${LAPACK_LIBRARIES} ${MPI_CXX_LIBRARIES} ${AYATORI_COMPRESSION_LIBRARIES})
if(KLU_FOUND)
  list(APPEND pc_libraries ${KLU_LIBRARIES})
endif()
foreach(name IN LISTS AYATORI_MPI_LIBRARIES)
  list(APPEND pc_libraries ${${name}_LIBRARY})
endforeach()
list(FILTER pc_libraries EXCLUDE REGEX "::")
list(JOIN pc_libraries " " pc_libraries)
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/ayatori.pc.in ayatori.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ayatori.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET ayatori_c)
  configure_file(cmake/ayatori-c.pc.in ayatori-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/ayatori-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Manual pages and completion are what the program itself says, so that they cannot fall behind it.
if(AYATORI_SMPI OR CMAKE_CROSSCOMPILING)
  return()
endif()
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  function(ask)
    execute_process(COMMAND \"$<TARGET_FILE:ayatori_cli>\" \${ARGN} COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  file(MAKE_DIRECTORY \"\${share}/bash-completion/completions\" \"\${share}/zsh/site-functions\")
  ask(completion bash OUTPUT_FILE \"\${share}/bash-completion/completions/ayatori\")
  ask(completion zsh OUTPUT_FILE \"\${share}/zsh/site-functions/_ayatori\")
  ask(man --folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
  message(STATUS \"Installing: manual pages and completion\")
")
