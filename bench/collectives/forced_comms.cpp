#include "bench/collectives/forced_comms.hpp"

#include <optional>

#include "ayatori/comm/agree.hpp"

namespace ayatori::bench {

const std::vector<ForcedComms::Entry>& ForcedComms::of(collectives::Operation operation) {
  const auto [place, is_new] = entries_.try_emplace(operation);
  if (is_new) {
    for (auto& algorithm : access_.of(collectives::type_of(operation).name)) {
      std::optional<comm::ForcedAlgorithm> forced;
      comm::agree(comm_, [&] { forced.emplace(access_, algorithm); });
      place->second.push_back({std::move(algorithm), comm_.duplicate()});
    }
  }
  return place->second;
}

}  // namespace ayatori::bench
