#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_market/deal.hpp"
#include "ayatori/io/matrix_market/lines.hpp"
#include "ayatori/io/matrix_market/pieces.hpp"

namespace ayatori::io::matrix_market {

namespace {

/// Parses texts in OpenMP tasks, while the thread that submits them goes on. To be used by the master thread
/// of a parallel region, whose end waits for the tasks.
class ParserTasks {
 public:
  explicit ParserTasks(const Header& header) : header_(header) {}

  void submit(DealtText text) {
    Job* const job = &jobs_.emplace_back(Job{std::move(text), {}});
    // With all threads busy and one text in store for each, the submitting thread parses, too: memory stays
    // bounded.
    const bool deferred = waiting_ < 2 * max_threads();
    ++waiting_;
#pragma omp task firstprivate(job) if (deferred)
    {
      exception_.guard([&] {
        job->piece = parse(header_, {job->text.offset, job->text.characters});
        Array<char>().swap(job->text.characters);
      });
      --waiting_;
    }
  }

  /// After the parallel region.
  std::vector<Piece> finish() {
    exception_.rethrow();
    std::vector<Piece> pieces;
    for (Job& job : jobs_) pieces.push_back(std::move(job.piece));
    return pieces;
  }

 private:
  struct Job {
    DealtText text;
    Piece piece;
  };

  const Header& header_;
  std::list<Job> jobs_;
  std::atomic<int> waiting_ = 0;
  FirstException exception_;
};

/// What each rank needs before the dealing begins.
struct Preparation {
  std::unique_ptr<ByteStream> stream;  ///< rank 0: at the first line of data
  Array<char> buffer;                  ///< other ranks: for the longest text
};

Preparation prepare(const comm::Comm& comm, const ByteSource& source, const Header& header,
                    const MatrixMarketReadOptions& options) {
  if (comm.rank() > 0) return {nullptr, Array<char>(LineCutter::longest_piece(options.piece_bytes))};
  auto stream = open_stream(source);
  Array<char> skipped(static_cast<std::size_t>(header.body));
  stream->read(skipped);
  return {std::move(stream), {}};
}

/// The next lines. A fault of the cutting becomes a piece of its own.
DealtText cut(LineCutter& cutter, std::vector<Piece>& faults) {
  DealtText text;
  const Lines lines = cutter.next(text.characters);
  if (lines.fault.offset != nowhere) faults.emplace_back().fault = lines.fault;
  text.offset = lines.text.offset;
  text.characters.resize(lines.text.characters.size());
  return text;
}

}  // namespace

std::vector<Piece> parse_compressed(const comm::Comm& comm, const ByteSource& source, const Header& header,
                                    const MatrixMarketReadOptions& options) {
  Preparation prepared = comm::agree(comm, [&] { return prepare(comm, source, header, options); });
  return comm::agree(comm, [&] {
    std::optional<LineCutter> cutter;  // on rank 0
    if (prepared.stream) cutter.emplace(*prepared.stream, header.body, options.piece_bytes);
    ParserTasks tasks(header);
    std::vector<Piece> faults;
    FirstException exception;
#pragma omp parallel
#pragma omp master
    exception.guard([&] {
      deal(
          comm, prepared.buffer, [&] { return cut(*cutter, faults); },
          [&](DealtText text) { tasks.submit(std::move(text)); });
    });
    exception.rethrow();
    std::vector<Piece> pieces = tasks.finish();
    std::move(faults.begin(), faults.end(), std::back_inserter(pieces));
    return pieces;
  });
}

}  // namespace ayatori::io::matrix_market
