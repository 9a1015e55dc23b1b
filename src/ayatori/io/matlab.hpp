#pragma once

#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/format.hpp"

// MATLAB's files of version 5 (save -v6 and -v7, scipy.io.savemat; MathWorks, MAT-File Format): sparse and
// full variables, real or complex, compressed or not, in either order of bytes, also in structures
// ("Problem.A", as the SuiteSparse collection has them). What is neither, text and cells, is passed over.

namespace ayatori::io {

/// Whether a content that begins so is a MAT-file of version 5.
bool looks_like_mat(std::string_view first_bytes);

/// Collective. The variable that is called `name`, or ends in ".NAME"; without a name the only sparse one, or
/// the only full one of more than one row and column. Rows come evenly spread; every rank streams the file
/// and keeps its share of the entries. Throws InputError, agreed, that names the file and what is wrong.
LoadedMatrix read_mat(const comm::Comm& comm, const ByteSource& source, const std::string& name);

/// The variable of this name, as above; without one the only full variable with more than one number. Throws
/// InputError.
Vectors find_mat_vectors(const ByteSource& source, const std::string& name);

/// Whether the variable that read_mat() takes is complex. Throws InputError.
bool mat_is_complex(const ByteSource& source, const std::string& name);

}  // namespace ayatori::io
