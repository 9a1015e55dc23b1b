#include "bench/kernels/read_matrix.hpp"

#include <bit>

#include "ayatori/base/timing.hpp"
#include "ayatori/io/matrix_source.hpp"

namespace ayatori::bench {

std::uint64_t entry_hash(std::int64_t row, std::int64_t column, double value) {
  // Multipliers of Steele, Lea & Flood's SplitMix64; bench/peers/read_matrix.py computes the same.
  std::uint64_t hash = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U +
                       static_cast<std::uint64_t>(column) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 32U);
}

ReadTiming time_read(const comm::Comm& comm, const std::string& path, int repetitions) {
  ReadTiming timing;
  io::LoadedMatrix matrix;
  for (int r = 0; r < repetitions || r == 0; ++r) {
    matrix = {};
    comm.barrier();
    const Stopwatch watch;
    matrix = io::load_matrix(comm, path);
    timing.seconds.push_back(comm.allreduce(watch.seconds(), comm::ReduceOp::max));
  }
  const sparse::RowBlock& block = matrix.block;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      timing.sum += block.value[k];
      timing.checksum += entry_hash(block.first_row + i, block.column[k], block.value[k]);
    }
  }
  timing.file_bytes = matrix.facts.bytes;
  timing.rows = block.global_rows;
  timing.columns = block.global_columns;
  timing.nonzeros = comm.allreduce(block.nonzeros(), comm::ReduceOp::sum);
  timing.sum = comm.allreduce(timing.sum, comm::ReduceOp::sum);
  timing.checksum = comm.allreduce(timing.checksum, comm::ReduceOp::sum);
  return timing;
}

}  // namespace ayatori::bench
