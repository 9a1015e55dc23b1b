#include "ayatori/collectives/words/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {
namespace {

int circular_distance(int a, int b, int members) {
  const int distance = std::abs(a - b) % members;
  return std::min(distance, members - distance);
}

/// De Sensi et al. 2024: 1, 1, 3, 5, 11, ..., to either side in turns.
TEST(Exchange, ASwingKeepsPartnersNear) {
  constexpr int members = 64;
  constexpr int distances[] = {1, 1, 3, 5, 11, 21};
  for (int me = 0; me < members; ++me) {
    for (const auto& message : all_to_all(Exchange::swing, members, me)) {
      EXPECT_EQ(circular_distance(me, message.peer, members), distances[message.stage]);
      EXPECT_EQ(message.count, 1 << message.stage);
    }
  }
}

/// Doubling would need the opposite one, too.
TEST(Exchange, ASwingOfFourHasNeighboursOnly) {
  for (int me = 0; me < 4; ++me) {
    for (const auto& message : one_to_all(Exchange::swing, 4, me))
      EXPECT_EQ(circular_distance(me, message.peer, 4), 1);
  }
}

/// In a tree the parts behind a link are exactly those that its receiver keeps or passes on.
TEST(Exchange, TreesCarryWhatIsBehindTheirLinks) {
  for (const Exchange exchange : all_exchanges) {
    for (int members = 2; members <= 33; ++members) {
      if (!can_exchange(exchange, members)) continue;
      for (int me = 0; me < members; ++me) {
        std::multiset<int> held;  // and not passed on
        int arrivals = 0;
        for (const auto& message : one_to_all(exchange, members, me)) {
          for (int m = message.first; m < message.first + message.count; ++m) {
            if (message.is_sent && me > 0)
              held.erase(held.find(m));
            else if (!message.is_sent)
              held.insert(m);
          }
          arrivals += message.is_sent ? 0 : 1;
        }
        EXPECT_EQ(arrivals, me > 0 ? 1 : 0);
        EXPECT_EQ(held, me > 0 ? std::multiset{me} : std::multiset<int>()) << name_of(exchange) << members;
      }
    }
  }
}

TEST(Exchange, NamesGoBothWays) {
  for (const Exchange known : all_exchanges) EXPECT_EQ(exchange(name_of(known)), known);
  EXPECT_THROW(exchange("sideways"), InputError);
}

}  // namespace
}  // namespace ayatori::collectives
