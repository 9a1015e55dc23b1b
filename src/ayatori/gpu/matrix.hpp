#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/gpu/device.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::gpu {

/// A matrix in a device's memory, in one storage format; R is what vectors are of. Movable.
template <class R>
class Matrix {
 public:
  /// Row by row into a step: step.row(i, (A x)_i, ...). Does not wait.
  void multiply(const R* x, const ProductStep<R>& step) const { device_->multiply(view_, x, step); }

  std::string_view format() const { return format_; }
  std::int32_t rows() const { return rows_; }
  /// That one product reads of the matrix.
  std::int64_t bytes() const { return bytes_; }

 private:
  friend class MatrixBuilder;
  Device* device_ = nullptr;
  MatrixView<R> view_{};
  std::string_view format_;
  std::int32_t rows_ = 0;
  std::int64_t bytes_ = 0;
  std::vector<DeviceArray<unsigned char>> arrays_;
};

/// What decides between formats; one pass over the pattern.
struct FormatFacts {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int64_t entries = 0;
  std::int64_t longest_row = 0;
  std::int64_t sell_entries = 0;        ///< with what slices are padded by
  int block = 1;                        ///< rows of dense blocks, if the matrix consists of such (2 or 3)
  std::int64_t block_sell_entries = 0;  ///< entries of such blocks, padded
  std::vector<std::int32_t> diagonals;  ///< offsets ascending; empty: too many
};
FormatFacts examine_format(const sparse::Csr& matrix);

/// csr, csr-chunks, sell, diagonals, block-sell.
std::vector<std::string_view> formats();
/// Whether the format can hold it in less than `most_padding` of its entries.
bool suits(std::string_view format, const FormatFacts& facts);
/// What a product costs, in bytes at the rate of a long copy; infinite where it does not suit.
double cost(std::string_view format, const FormatFacts& facts);
/// The one that costs least.
std::string_view choose_format(const FormatFacts& facts);

/// Throws InputError if the format does not suit, EnvironmentError where memory is missing.
template <class R>
Matrix<R> make_matrix(Device& device, const sparse::Csr& matrix, std::string_view format,
                      const FormatFacts& facts);
/// In the format of choose_format().
template <class R>
Matrix<R> make_matrix(Device& device, const sparse::Csr& matrix);
/// Stored in 16 bits, as sell or diagonals: values are rounded to 11 bits. Their magnitudes must be below
/// 65504.
Matrix<float> make_half_matrix(Device& device, const sparse::Csr& matrix);

extern template Matrix<double> make_matrix(Device&, const sparse::Csr&, std::string_view, const FormatFacts&);
extern template Matrix<float> make_matrix(Device&, const sparse::Csr&, std::string_view, const FormatFacts&);
extern template Matrix<double> make_matrix(Device&, const sparse::Csr&);
extern template Matrix<float> make_matrix(Device&, const sparse::Csr&);

}  // namespace ayatori::gpu
