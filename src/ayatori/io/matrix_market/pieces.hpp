#pragma once

#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/matrix_market/parse.hpp"

namespace ayatori::io::matrix_market {

/// Collective. This rank's pieces of the data of a plain source: each rank reads and parses a range of its
/// own, with all threads.
std::vector<Piece> parse_plain(const comm::Comm& comm, const ByteSource& source, const Header& header,
                               const MatrixMarketReadOptions& options);

/// Collective. The same for a compressed source, which only rank 0 reads (`source` is null elsewhere): it
/// decompresses while the others, and its own further threads, parse the pieces that it deals them in turn. A
/// rank holds no more text than a few pieces.
std::vector<Piece> parse_compressed(const comm::Comm& comm, const ByteSource& source, const Header& header,
                                    const MatrixMarketReadOptions& options);

}  // namespace ayatori::io::matrix_market
