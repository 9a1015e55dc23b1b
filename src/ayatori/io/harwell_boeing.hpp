#pragma once

#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"

// Harwell-Boeing and Rutherford-Boeing files, plain or compressed (Duff, Grimes & Lewis, Users' Guide for the
// Harwell-Boeing Sparse Matrix Collection, 1992): assembled matrices, real, complex, integer or pattern
// (ones), of any symmetry. Elemental files are refused. Numbers stand in the columns that the file's Fortran
// formats name, and are read as Fortran reads them: (16I5), (10F8.2), (1P,4D20.12); a complex value is two.
// Values may have a format of integers. Lines that do not keep to their columns, as scipy.io.hb_write's, are
// read where blanks and signs tell their numbers apart. The header's counts of lines are not relied on;
// right-hand sides are skipped.

namespace ayatori::io {

/// Whether a content that begins so is Harwell-Boeing: told by its second, third and fourth line.
bool looks_like_harwell_boeing(std::string_view first_bytes);

/// Collective. A matrix with its rows evenly spread. Every rank streams the whole file, as its lines cannot
/// be found otherwise, and keeps an equal share of the entries. Throws InputError, agreed, that names file,
/// line and what is wrong; memory grows with what was read, not with what the header promises.
LoadedMatrix read_harwell_boeing(const comm::Comm& comm, const std::string& path);

/// Whether the values of a source are complex, told by its header. Throws InputError.
bool harwell_boeing_is_complex(const ByteSource& source);

/// Collective. The same from any source, which every rank has.
LoadedMatrix read_harwell_boeing(const comm::Comm& comm, const ByteSource& source);

}  // namespace ayatori::io
