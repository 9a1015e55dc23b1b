#include "ayatori/base/json.hpp"
#include "ayatori/mapping/graph/traffic.hpp"

namespace ayatori::mapping {

namespace {

constexpr std::int64_t most_ranks = std::int64_t{1} << 24;
constexpr std::int64_t most_count = std::int64_t{1} << 53;
/// 64 neighbours of each of half a million ranks.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

std::int64_t whole(const nlohmann::json& value, std::int64_t most) {
  return whole_number<std::int64_t>(value, 0, most);
}

int rank_of(const nlohmann::json& value, int ranks) {
  return static_cast<int>(whole(value, ranks - 1));
}

void check_host(const std::string& host) {
  if (host.empty() || host.find_first_of(" \t\r\n,:=#") != std::string::npos || host != printable(host))
    throw InputError(fmt::format("'{}' is no name of a host", printable(host)));
}

}  // namespace

Traffic read_trace(const std::string& path) {
  return naming(path, [&] {
    const auto json = read_json(path, most_bytes);
    if (json.at("schema") != "ayatori.trace/1") throw InputError("no trace of libayatori_pmpi.so");
    Traffic traffic;
    traffic.ranks = static_cast<int>(whole(json.at("ranks"), most_ranks));
    if (traffic.ranks < 1) throw InputError("no ranks");
    traffic.hosts = json.at("hosts").get<std::vector<std::string>>();
    if (traffic.hosts.size() != static_cast<std::size_t>(traffic.ranks))
      throw InputError("not as many hosts as ranks");
    for (const auto& host : traffic.hosts) check_host(host);
    for (const auto& message : json.at("messages")) {
      if (message.size() != 4) throw InputError(fmt::format("{} is no message", in_words(message)));
      traffic.messages.push_back({rank_of(message.at(0), traffic.ranks),
                                  rank_of(message.at(1), traffic.ranks), whole(message.at(2), most_count),
                                  whole(message.at(3), most_count)});
    }
    for (const auto& members : json.at("communicators")) {
      for (const auto& collective : members.at("collectives")) {
        const auto bytes = whole(collective.at("bytes"), most_count);
        if (bytes > most_count - traffic.collective_bytes)
          throw InputError("collective calls of more than 2^53 bytes");
        traffic.collective_bytes += bytes;
      }
    }
    return traffic;
  });
}

}  // namespace ayatori::mapping
