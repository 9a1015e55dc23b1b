#include <fstream>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/mapping/traffic.hpp"

namespace ayatori::mapping {

namespace {

constexpr std::int64_t most_ranks = std::int64_t{1} << 24;
constexpr std::int64_t most_count = std::int64_t{1} << 53;

std::int64_t whole(const nlohmann::json& value, std::int64_t most) {
  // What the parser has found to be unsigned has neither sign, fraction nor exponent.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    throw InputError(fmt::format("{} is no whole number from 0 to {}", value.dump(), most));
  return value.get<std::int64_t>();
}

int rank_of(const nlohmann::json& value, int ranks) {
  return static_cast<int>(whole(value, ranks - 1));
}

void check_host(const std::string& host) {
  if (host.empty() || host.find_first_of(" \t\r\n,:=") != std::string::npos)
    throw InputError(fmt::format("'{}' is no name of a host", host));
}

}  // namespace

Traffic read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    const auto json = nlohmann::json::parse(file);
    if (json.at("schema") != "ayatori.trace/1") throw InputError("no trace of libayatori_pmpi.so");
    Traffic traffic;
    traffic.ranks = static_cast<int>(whole(json.at("ranks"), most_ranks));
    if (traffic.ranks < 1) throw InputError("no ranks");
    traffic.hosts = json.at("hosts").get<std::vector<std::string>>();
    if (traffic.hosts.size() != static_cast<std::size_t>(traffic.ranks))
      throw InputError("not as many hosts as ranks");
    for (const auto& host : traffic.hosts) check_host(host);
    for (const auto& message : json.at("messages")) {
      if (message.size() != 4) throw InputError(fmt::format("{} is no message", message.dump()));
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
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ayatori::mapping
