#pragma once

#include <string>
#include <vector>

namespace ayatori::io {

template <class T>
std::string mat_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// An element of a MAT-file: tag, content, padding to eight bytes.
inline std::string mat_element(std::uint32_t type, const std::string& content) {
  return mat_bytes(std::vector<std::uint32_t>{type, static_cast<std::uint32_t>(content.size())}) + content +
         std::string((8 - content.size() % 8) % 8, '\0');
}

/// Kind (5: sparse, 6: doubles), sizes and name of a variable.
inline std::string mat_head(std::uint32_t kind, std::int32_t rows, std::int32_t columns,
                            const std::string& name) {
  return mat_element(6, mat_bytes(std::vector<std::uint32_t>{kind, 4})) +
         mat_element(5, mat_bytes(std::vector<std::int32_t>{rows, columns})) + mat_element(1, name);
}

/// [2 0 -1; 0 5 0; 0 7 0]
inline std::string mat_sparse(const std::string& name) {
  return mat_element(14, mat_head(5, 3, 3, name) +
                             mat_element(5, mat_bytes(std::vector<std::int32_t>{0, 1, 2, 0})) +
                             mat_element(5, mat_bytes(std::vector<std::int32_t>{0, 1, 3, 4})) +
                             mat_element(9, mat_bytes(std::vector<double>{2, 5, 7, -1})));
}

/// A column 1, 2, 3, stored in bytes, as MATLAB does with whole numbers.
inline std::string mat_column(const std::string& name) {
  return mat_element(14, mat_head(6, 3, 1, name) + mat_element(2, std::string("\1\2\3", 3)));
}

/// Added to the kind of a variable that is complex.
inline constexpr std::uint32_t mat_complex = 0x800;

/// [2+i 0 -1; 0 5i 0; 0 7 0]
inline std::string mat_complex_sparse(const std::string& name) {
  return mat_element(14, mat_head(5 | mat_complex, 3, 3, name) +
                             mat_element(5, mat_bytes(std::vector<std::int32_t>{0, 1, 2, 0})) +
                             mat_element(5, mat_bytes(std::vector<std::int32_t>{0, 1, 3, 4})) +
                             mat_element(9, mat_bytes(std::vector<double>{2, 0, 7, -1})) +
                             mat_element(9, mat_bytes(std::vector<double>{1, 5, 0, 0})));
}

/// [1 i; 0 2+3i; -4 0], imaginary parts in bytes.
inline std::string mat_complex_full(const std::string& name) {
  return mat_element(14, mat_head(6 | mat_complex, 3, 2, name) +
                             mat_element(9, mat_bytes(std::vector<double>{1, 0, -4, 0, 2, 0})) +
                             mat_element(2, std::string("\0\0\0\1\3\0", 6)));
}

inline std::string mat_file(const std::string& variables) {
  std::string header = "MATLAB 5.0 MAT-file, by hand";
  header.resize(124, ' ');
  return header + std::string("\0\1IM", 4) + variables;
}

}  // namespace ayatori::io
