#include <algorithm>
#include <atomic>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_market/lines.hpp"
#include "ayatori/io/matrix_market/pieces.hpp"

namespace ayatori::io::matrix_market {

namespace {

void lower_to(std::atomic<std::int64_t>& minimum, std::int64_t value) {
  std::int64_t current = minimum.load();
  while (value < current && !minimum.compare_exchange_weak(current, value)) {
  }
}

/// Pieces small enough that every thread gets some, and no larger than asked for.
std::int64_t piece_size(std::int64_t bytes, const MatrixMarketReadOptions& options) {
  constexpr std::int64_t pieces_per_thread = 4;
  const std::int64_t share = bytes / (pieces_per_thread * max_threads());
  constexpr std::int64_t worth_a_read = std::int64_t{1} << 16;
  return std::min(options.piece_bytes, std::max(share, worth_a_read));
}

}  // namespace

std::vector<Piece> parse_plain(const comm::Comm& comm, const ByteSource& source, const Header& header,
                               const MatrixMarketReadOptions& options) {
  return comm::agree(comm, [&] {
    Range mine =
        split_evenly(std::max(source.size() - header.body, std::int64_t{0}), comm.size(), comm.rank());
    mine = {mine.begin + header.body, mine.end + header.body};
    const std::int64_t bytes = piece_size(mine.size(), options);
    const std::int64_t count = (mine.size() + bytes - 1) / bytes;
    std::vector<Piece> pieces(count);
    std::atomic<std::int64_t> first_fault = nowhere;
    FirstException exception;
#pragma omp parallel
    {
      Array<char> buffer;
#pragma omp for schedule(dynamic)
      for (std::int64_t k = 0; k < count; ++k) {
        exception.guard([&] {
          const Range range{mine.begin + k * bytes, std::min(mine.begin + (k + 1) * bytes, mine.end)};
          if (range.begin > first_fault) return;
          const Lines lines = read_lines(source, range, header.body, buffer);
          pieces[k] = parse(header, lines.text);
          if (lines.fault.offset != nowhere) pieces[k].fault = lines.fault;
          lower_to(first_fault, pieces[k].fault.offset);
        });
      }
    }
    exception.rethrow();
    return pieces;
  });
}

}  // namespace ayatori::io::matrix_market
