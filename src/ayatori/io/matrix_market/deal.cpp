#include "ayatori/io/matrix_market/deal.hpp"

#include <array>
#include <list>
#include <utility>

#include "ayatori/base/parallel.hpp"

namespace ayatori::io::matrix_market {

namespace {

constexpr int head_tag = 1;
constexpr int text_tag = 2;

/// What goes before a text on its way to another rank. No characters: there are no more texts.
struct Head {
  std::int64_t offset = 0;
  std::int64_t characters = 0;
};

/// Texts on their way to other ranks.
class Outbox {
 public:
  explicit Outbox(const comm::Comm& comm) : comm_(comm) {}

  /// Waits for an earlier text when too many are under way. Throws only before anything is sent.
  void send(int rank, DealtText text) {
    while (static_cast<int>(mail_.size()) >= 2 * comm_.size()) take_front();
    Mail& mail = mail_.emplace_back();
    mail.head[0] = {text.offset, static_cast<std::int64_t>(text.characters.size())};
    mail.characters = std::move(text.characters);
    mail.requests[0] = comm_.isend(std::span<const Head>(mail.head), rank, head_tag);
    mail.requests[1] = comm_.isend(std::span<const char>(mail.characters), rank, text_tag);
  }
  /// Needs no memory, so that no rank waits for ever for the end.
  void close() {
    const std::array<Head, 1> end{};
    for (int rank = 1; rank < comm_.size(); ++rank) {
      comm_.send(std::span<const Head>(end), rank, head_tag);
    }
    while (!mail_.empty()) take_front();
  }

 private:
  struct Mail {
    std::array<Head, 1> head;
    Array<char> characters;
    std::array<comm::Request, 2> requests;
  };
  void take_front() {
    comm::wait_all(mail_.front().requests);
    mail_.pop_front();
  }

  const comm::Comm& comm_;
  std::list<Mail> mail_;
};

/// Rank 0.
void give(const comm::Comm& comm, const std::function<DealtText()>& next,
          const std::function<void(DealtText)>& use, Outbox& outbox) {
  for (std::int64_t k = 0;; ++k) {
    DealtText text = next();
    if (text.characters.empty()) return;
    const int rank = static_cast<int>(k % comm.size());
    if (rank == 0) {
      use(std::move(text));
    } else {
      outbox.send(rank, std::move(text));
    }
  }
}

/// Other ranks. After an exception what arrives is dropped: rank 0 would wait for ever for its receipt.
void take(const comm::Comm& comm, std::span<char> buffer, const std::function<void(DealtText)>& use,
          FirstException& exception) {
  bool useful = true;
  while (true) {
    std::array<Head, 1> head;
    comm.recv(std::span<Head>(head), 0, head_tag);
    if (head[0].characters == 0) return;
    const auto characters = buffer.first(static_cast<std::size_t>(head[0].characters));
    comm.recv(characters, 0, text_tag);
    if (!useful) continue;
    useful = exception.guard([&] { use({head[0].offset, {characters.begin(), characters.end()}}); });
  }
}

}  // namespace

void deal(const comm::Comm& comm, std::span<char> buffer, const std::function<DealtText()>& next,
          const std::function<void(DealtText)>& use) {
  FirstException exception;
  if (comm.rank() == 0) {
    Outbox outbox(comm);
    exception.guard([&] { give(comm, next, use, outbox); });
    outbox.close();
  } else {
    take(comm, buffer, use, exception);
  }
  exception.rethrow();
}

}  // namespace ayatori::io::matrix_market
