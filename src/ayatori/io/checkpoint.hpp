#pragma once

#include <span>
#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"

// A checkpoint: what a solve needs to go on, in one file that any number of ranks can read.
//   "AYATORI1", 8 bytes; length of the note, its hash, elements of x, hash of x: 64 bits each, little-endian;
//   the note, a text; the elements of x in the order of rows, IEEE doubles, little-endian.

namespace ayatori::io {

struct Checkpoint {
  std::string note;  ///< what the writer says of x; the same on all ranks
  Array<double> x;   ///< this rank's rows
};

/// Collective. All ranks write their rows at the same time. Whoever is killed at any moment leaves the file
/// that was there before, or the new one, and perhaps a temporary that the next writer removes when it is
/// old. `note` counts on rank 0. Throws EnvironmentError, agreed.
void write_checkpoint(const comm::Comm& comm, const std::string& path, const std::string& note,
                      std::span<const double> x, const sparse::RowPartition& rows);

/// Collective. Throws InputError, agreed, if the file is no checkpoint, of a vector of another length, cut
/// off, or damaged: one flipped bit is found.
Checkpoint read_checkpoint(const comm::Comm& comm, const std::string& path, const sparse::RowPartition& rows);

}  // namespace ayatori::io
