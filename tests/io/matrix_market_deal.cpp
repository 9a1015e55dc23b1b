#include "ayatori/io/matrix_market/deal.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

namespace ayatori::io::matrix_market {
namespace {

/// Texts long enough that their sender waits for the receiver.
constexpr std::int64_t length = 1 << 20;

/// What a rank does at a certain text.
struct Dealing {
  const comm::Comm comm = comm::Comm::world();
  std::int64_t texts = 4 * comm.size() + 1;
  std::int64_t next_fails_at = -1;      ///< on rank 0
  int failing_rank = -1;                ///< whose `use` throws
  std::vector<std::int64_t> used = {};  ///< the offsets of what this rank got
  std::int64_t given = 0;

  void run() {
    Array<char> buffer(length);
    deal(
        comm, buffer,
        [&] {
          if (given == next_fails_at) throw std::runtime_error("damaged");
          if (given == texts) return DealtText{};
          DealtText text{given, Array<char>(length, static_cast<char>(given))};
          ++given;
          return text;
        },
        [&](DealtText text) {
          if (comm.rank() == failing_rank) throw std::bad_alloc();
          EXPECT_EQ(text.characters, Array<char>(length, static_cast<char>(text.offset)));
          used.push_back(text.offset);
        });
  }

  /// This rank's share of the first `dealt` texts.
  std::vector<std::int64_t> share(std::int64_t dealt) const {
    std::vector<std::int64_t> offsets;
    for (std::int64_t k = comm.rank(); k < dealt; k += comm.size()) offsets.push_back(k);
    return offsets;
  }
};

TEST(MatrixMarketDeal, InTurn) {
  Dealing dealing;
  dealing.run();
  EXPECT_EQ(dealing.used, dealing.share(dealing.texts));
}

TEST(MatrixMarketDeal, NothingAtAll) {
  Dealing dealing{.texts = 0};
  dealing.run();
  EXPECT_TRUE(dealing.used.empty());
}

TEST(MatrixMarketDeal, FailureOfOneRankKeepsNobodyWaiting) {
  for (int failing = 0; failing < comm::Comm::world().size(); ++failing) {
    Dealing dealing{.failing_rank = failing};
    if (dealing.comm.rank() == failing) {
      EXPECT_THROW(dealing.run(), std::bad_alloc);
    } else {
      dealing.run();
      // Rank 0 stops dealing when it fails itself, and not for others.
      EXPECT_EQ(dealing.used, dealing.share(failing == 0 ? 0 : dealing.texts));
    }
    dealing.comm.barrier();  // all are still together
  }
}

TEST(MatrixMarketDeal, FailureOfTheSourceKeepsNobodyWaiting) {
  const int size = comm::Comm::world().size();
  for (std::int64_t k = 0; k < 2 * size; ++k) {
    Dealing dealing{.next_fails_at = k};
    if (dealing.comm.rank() == 0) {
      EXPECT_THROW(dealing.run(), std::runtime_error);
    } else {
      dealing.run();
    }
    EXPECT_EQ(dealing.used, dealing.share(k));
    dealing.comm.barrier();
  }
}

}  // namespace
}  // namespace ayatori::io::matrix_market
