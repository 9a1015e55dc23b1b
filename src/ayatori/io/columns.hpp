#pragma once

#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"

// Numbers in plain columns, without a header: "row column value" as MATLAB's spconvert reads it, "row column"
// as edge lists have it (SNAP), whose entries are ones, or one number a line, a vector. Blanks stand between
// numbers; lines that begin with % or # are comments. The first line tells how many numbers a line has. Rows
// and columns count from 0 if a 0 is among them, and else from 1; 1.0e+00 is one, too (numpy.savetxt). The
// greatest ones are the size, to which the line "rows columns 0" belongs as well; an edge list is square.

namespace ayatori::io {

/// Whether the first line that is no comment holds one to three numbers.
bool looks_like_columns(std::string_view first_bytes);

/// How many numbers with commas between them the first line that is no comment begins with.
std::size_t numbers_between_commas(std::string_view first_bytes);

/// Collective. A matrix with its rows evenly spread: every rank reads and parses a range of its own. Equal
/// places are summed, zeros left out. The source is plain. Throws InputError, agreed, that names file, line
/// (the first wrong one) and what is wrong; also for a Matrix Market file that has lost its banner, and for
/// rows whose numbers are far beyond what a file of this size describes.
LoadedMatrix read_columns(const comm::Comm& comm, const ByteSource& source);

}  // namespace ayatori::io
