# `cmake --install`: the command, the headers, the libraries, and a package for find_package(ayatori).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ayatori)

install(TARGETS ${AYATORI_TARGETS} EXPORT ayatori ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ayatori_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ayatori_pmpi)
  install(TARGETS ayatori_pmpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY src/ayatori DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(EXPORT ayatori NAMESPACE ayatori:: FILE ayatoriTargets.cmake DESTINATION ${package_folder})

configure_package_config_file(cmake/ayatoriConfig.cmake.in ayatoriConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(ayatoriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ayatoriConfig.cmake ${PROJECT_BINARY_DIR}/ayatoriConfigVersion.cmake
              cmake/FindMETIS.cmake cmake/FindHWLOC.cmake
        DESTINATION ${package_folder})
