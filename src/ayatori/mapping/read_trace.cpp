#include <fstream>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/mapping/traffic.hpp"

namespace ayatori::mapping {

Traffic read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    const auto json = nlohmann::json::parse(file);
    if (json.at("schema") != "ayatori.trace/1") throw InputError("no trace of libayatori_pmpi.so");
    Traffic traffic;
    traffic.ranks = json.at("ranks");
    traffic.hosts = json.at("hosts").get<std::vector<std::string>>();
    for (const auto& message : json.at("messages"))
      traffic.messages.push_back({message.at(0), message.at(1), message.at(2), message.at(3)});
    for (const auto& members : json.at("communicators")) {
      for (const auto& collective : members.at("collectives"))
        traffic.collective_bytes += collective.at("bytes").get<std::int64_t>();
    }
    if (traffic.ranks < 1) throw InputError("no ranks");
    if (traffic.hosts.size() != static_cast<std::size_t>(traffic.ranks))
      throw InputError("not as many hosts as ranks");
    return traffic;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ayatori::mapping
