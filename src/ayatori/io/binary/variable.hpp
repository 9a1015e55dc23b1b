#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/format.hpp"

namespace ayatori::io {

/// One of the matrices in a file that holds several, by names.
struct Variable {
  std::string name;  ///< "A", "Problem.A" in a structure, "layers/A" in a group
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool is_sparse = false;
  bool is_complex = false;
};

/// The variable of this name, or with this behind the last '.' or '/' of its name; without a name the only
/// sparse one, or the only full one of more than one row and column. Throws InputError that lists them.
Variable choose_matrix(const ByteSource& source, const std::vector<Variable>& variables,
                       const std::string& name);

/// The variable of this name, as above; without a name the only full one with more than one number.
Variable choose_vectors(const ByteSource& source, const std::vector<Variable>& variables,
                        const std::string& name);

/// What it holds where vectors are wanted: a single row is one.
Vectors vectors_of(const Variable& variable);

/// Empty rows cost memory, but nothing in the file. Throws InputError about numbers of rows or columns that
/// are out of proportion: they are damaged.
void check_sizes(const ByteSource& source, const Variable& variable);

}  // namespace ayatori::io
