#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::bench {

/// How long reading a matrix took, and what it gave, for comparison with other readers.
struct ReadTiming {
  std::vector<double> seconds;  ///< each repetition, slowest rank: from the file to compressed rows
  std::int64_t file_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  double sum = 0;              ///< sum of the values
  std::uint64_t checksum = 0;  ///< sum over all (row, column, value), in any order; see entry_hash()
};

/// The share of one entry in the checksum, which is the sum over all entries modulo 2^64. Indices count from
/// 0.
std::uint64_t entry_hash(std::int64_t row, std::int64_t column, double value);

/// Collective. Reads `path` this many times (at least once). Throws InputError, agreed.
ReadTiming time_read(const comm::Comm& comm, const std::string& path, int repetitions);

}  // namespace ayatori::bench
