#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_market/first_exception.hpp"
#include "ayatori/io/matrix_market/lines.hpp"
#include "ayatori/io/matrix_market/pieces.hpp"

namespace ayatori::io::matrix_market {

namespace {

constexpr int head_tag = 1;
constexpr int text_tag = 2;

/// What goes before a piece on its way to another rank. No characters: there are no more pieces.
struct Head {
  std::int64_t offset = 0;
  std::int64_t characters = 0;
};

/// Parses pieces in OpenMP tasks, while the thread that submits them goes on. To be used by the master thread
/// of a parallel region, whose end waits for the tasks.
class ParserTasks {
 public:
  explicit ParserTasks(const Header& header) : header_(header) {}

  void submit(std::int64_t offset, Array<char> characters) {
    Job* const job = &jobs_.emplace_back(Job{offset, std::move(characters), {}});
    // With all threads busy and one piece in store for each, the submitting thread parses, too: memory stays
    // bounded.
    const bool deferred = waiting_ < 2 * max_threads();
    ++waiting_;
#pragma omp task firstprivate(job) if (deferred)
    {
      exception_.guard([&] {
        job->piece = parse(header_, {job->offset, job->characters});
        Array<char>().swap(job->characters);
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
    std::int64_t offset;
    Array<char> characters;
    Piece piece;
  };

  const Header& header_;
  std::deque<Job> jobs_;  // references stay valid while it grows
  std::atomic<int> waiting_ = 0;
  FirstException exception_;
};

/// Pieces on their way to other ranks.
class Outbox {
 public:
  explicit Outbox(const comm::Comm& comm) : comm_(comm) {}

  /// Waits for an earlier piece when too many are under way.
  void send(int rank, std::int64_t offset, Array<char> characters) {
    while (static_cast<int>(mail_.size()) >= 2 * comm_.size()) take_front();
    Mail& mail = mail_.emplace_back();
    mail.head[0] = {offset, static_cast<std::int64_t>(characters.size())};
    mail.characters = std::move(characters);
    mail.requests.push_back(comm_.isend(std::span<const Head>(mail.head), rank, head_tag));
    if (mail.characters.empty()) return;
    mail.requests.push_back(comm_.isend(std::span<const char>(mail.characters), rank, text_tag));
  }
  void close() {
    for (int rank = 1; rank < comm_.size(); ++rank) send(rank, 0, {});
    while (!mail_.empty()) take_front();
  }

 private:
  struct Mail {
    std::array<Head, 1> head;
    Array<char> characters;
    std::vector<comm::Request> requests;
  };
  void take_front() {
    comm::wait_all(mail_.front().requests);
    mail_.pop_front();
  }

  const comm::Comm& comm_;
  std::deque<Mail> mail_;
};

/// Rank 0: inflates, cuts and deals. A fault of the cutting becomes a piece of its own.
void deal(const comm::Comm& comm, const ByteSource& source, const Header& header,
          const MatrixMarketReadOptions& options, ParserTasks& tasks, Outbox& outbox,
          std::vector<Piece>& faults) {
  const auto stream = open_stream(source);
  Array<char> skipped(static_cast<std::size_t>(header.body));
  stream->read(skipped);
  LineCutter cutter(*stream, header.body, options.piece_bytes);
  for (std::int64_t k = 0;; ++k) {
    Array<char> buffer;
    const Lines lines = cutter.next(buffer);
    if (lines.fault.offset != nowhere) faults.emplace_back().fault = lines.fault;
    if (lines.text.characters.empty()) return;
    buffer.resize(lines.text.characters.size());
    const int rank = static_cast<int>(k % comm.size());
    if (rank == 0) {
      tasks.submit(lines.text.offset, std::move(buffer));
    } else {
      outbox.send(rank, lines.text.offset, std::move(buffer));
    }
  }
}

/// Other ranks: take what they are dealt.
void take(const comm::Comm& comm, ParserTasks& tasks) {
  while (true) {
    std::array<Head, 1> head;
    comm.recv(std::span<Head>(head), 0, head_tag);
    if (head[0].characters == 0) return;
    Array<char> characters(static_cast<std::size_t>(head[0].characters));
    comm.recv(std::span<char>(characters), 0, text_tag);
    tasks.submit(head[0].offset, std::move(characters));
  }
}

}  // namespace

std::vector<Piece> parse_gzip(const comm::Comm& comm, const ByteSource& source, const Header& header,
                              const MatrixMarketReadOptions& options) {
  return comm::agree(comm, [&] {
    ParserTasks tasks(header);
    std::vector<Piece> faults;
    FirstException exception;
#pragma omp parallel
#pragma omp master
    {
      if (comm.rank() == 0) {
        Outbox outbox(comm);
        exception.guard([&] { deal(comm, source, header, options, tasks, outbox, faults); });
        exception.guard([&] { outbox.close(); });
      } else {
        exception.guard([&] { take(comm, tasks); });
      }
    }
    exception.rethrow();
    std::vector<Piece> pieces = tasks.finish();
    std::move(faults.begin(), faults.end(), std::back_inserter(pieces));
    return pieces;
  });
}

}  // namespace ayatori::io::matrix_market
