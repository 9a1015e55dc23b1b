# The page of `ayatori report` as the constant that cli/report_page.cpp includes, in <build>/generated/cli/report_template.hpp.
set(pieces ${PROJECT_SOURCE_DIR}/cli/report)
foreach(piece page.html style.css charts.js kinds.js)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pieces}/${piece})
endforeach()
file(READ ${pieces}/page.html page)
foreach(piece style.css charts.js kinds.js)
  file(READ ${pieces}/${piece} content)
  string(REGEX REPLACE "\\..*" "" name ${piece})
  string(TOUPPER "@${name}@" place)
  string(REPLACE "${place}" "${content}" page "${page}")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cli/report_template.hpp
     CONTENT "#pragma once\n\nnamespace ayatori::cli {\n\ninline constexpr const char report_template[] = R\"PAGE(@page@)PAGE\";\n\n}  // namespace ayatori::cli\n" @ONLY)
