#pragma once

#include <string>

namespace ayatori::io {

/// Four lines of a header for a 5 x 5 matrix (or of another size) with the formats of the guide.
inline std::string harwell_boeing_header(
    const std::string& type, const std::string& sizes,
    const std::string& formats = "(16I5)          (16I5)          (4E20.12)",
    const std::string& counts = "3 1 1 1 0") {
  return "A title of seventy-two characters, which may well say (16I5) and 1 2 3 4 itself KEY\n" + counts +
         "\n" + type + "           " + sizes + "\n" + formats + "\n";
}

/// The unsymmetric example of the Harwell-Boeing users' guide, with values without points:
/// [1 -3 0 -1 0; 0 0 -2 0 3; 2 0 0 0 0; 0 4 0 -4 0; 5 0 -5 0 6].
inline std::string guide_matrix() {
  return harwell_boeing_header("RUA", "5 5 11 0", "(6I3)           (16I3)          (5E15.8)") +
         "  1  4  6  8 10 12\n"
         "  1  3  5  1  4  2  5  1  4  2  5\n"
         " 1.00000000E+00 2.00000000E+00 5.00000000E+00-3.00000000E+00 4.00000000E+00\n"
         "-2.00000000E+00-5.00000000E+00-1.00000000E+00-4.00000000E+00 3.00000000E+00\n"
         " 6.00000000E+00\n";
}

/// 3 x 3 symmetric, fields without blanks between them, D exponents, line ends of Windows:
/// [2 -1 0; -1 2 0.5; 0 0.5 4].
inline std::string symmetric_matrix() {
  return harwell_boeing_header("rsa", "             3             3             5             0\r",
                               "(4i1)           (5I1)           (1P,3D10.3)\r", "5 1 1 2 0\r") +
         "1356\r\n"
         "12233\r\n"
         "+2.000D+00-1.000D+00+2.000D+00\r\n"
         "+5.000D-01+4.000D+00\r\n";
}

/// 3 x 3 skew-symmetric and integer, with a right-hand side: [0 -2 0; 2 0 7; 0 -7 0].
inline std::string skew_matrix() {
  return harwell_boeing_header("IZA", "3 3 2 0", "(10I8) (10I8) (10F8.0) (3F8.2)", "5 1 1 1 1") +
         "F                          1             0\n"
         "       1       2       3       3\n"
         "       2       3\n"
         "       2      -7\n"
         "    1.00    2.00    3.00\n";
}

/// 3 x 3 complex, `type` the second letter of its type, of whose triangle the column 2, i+1, 0 is stored, and
/// 0, 4, i-5; the right-hand side is complex, too.
inline std::string complex_matrix(char type) {
  return harwell_boeing_header(std::string("C") + type + "A", "3 3 4 0", "(10I3) (10I3) (3F8.2) (2F8.2)",
                               "6 1 1 3 1") +
         "F                          1             0\n"
         "  1  3  5  5\n"
         "  1  2  2  3\n"
         "    2.00    0.00    1.00\n"
         "    1.00    4.00    0.00\n"
         "   -5.00    1.00\n"
         "    1.00    2.00\n"
         "    3.00    4.00\n"
         "    5.00    6.00\n";
}

/// 2 x 4 rectangular pattern: [1 0 1 0; 0 1 1 0].
inline std::string pattern_matrix() {
  return harwell_boeing_header("PRA", "2 4 4 0", "(5I2)           (4I2)", "2 1 1 0 0") +
         " 1 2 3 5 5\n 1 2 1 2\n";
}

/// As scipy.io.hb_write writes whole numbers: [2 1 0 -1; 0 3 0 0; 0 0 4 0; 0 0 0 5].
inline std::string scipy_integer_matrix() {
  return harwell_boeing_header("IUA", "4 4 6 0", "(26I3)          (26I3)          (26I3)", "3 1 1 1") +
         "  1  2  4  5  7\n"
         "  1  1  2  3  1  4\n"
         "  2  1  3  4 -1  5\n";
}

/// As scipy.io.hb_write writes int8, where the width forgets -128: [2 -128 0; 1 3 0; 0 -128 4].
inline std::string scipy_int8_matrix() {
  return harwell_boeing_header("IUA", "3 3 6 0", "(40I2)          (40I2)          (26I3)", "3 1 1 1") +
         " 1 3 6 7\n"
         " 1 2 1 2 3 3\n"
         "  2  1-128  3-128  4\n";
}

/// As scipy.io.hb_write writes doubles, a character narrower than it says:
/// [1.5 0 -100 0; 0 -7 1e-120 0; -3 0 1e100 -1e-200; 0 2.5 0 -0.1].
inline std::string scipy_real_matrix() {
  return harwell_boeing_header("RUA", "4 4 9 0", "(26I3)          (40I2)          (3E25.16)", "5 1 1 3") +
         "  1  3  5  8 10\n"
         " 1 3 2 4 1 2 3 3 4\n"
         "  1.5000000000000000E+00 -3.0000000000000000E+00 -7.0000000000000000E+00\n"
         "  2.5000000000000000E+00 -1.0000000000000000E+02 9.9999999999999998E-121\n"
         " 1.0000000000000000E+100-9.9999999999999998E-201 -1.0000000000000001E-01\n";
}

}  // namespace ayatori::io
