#pragma once

#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/matrix_market/parse.hpp"

namespace ayatori::io::matrix_market {

/// Collective. Turns the numbered values of an array file's pieces into entries: columns from first to last,
/// of each the stored part; mirrored; zeros left out. Throws InputError, agreed, that names the line, if the
/// diagonal of a hermitian matrix is not real.
void place_array_values(const comm::Comm& comm, const ByteSource& source, const Header& header,
                        std::vector<Piece>& pieces);

}  // namespace ayatori::io::matrix_market
