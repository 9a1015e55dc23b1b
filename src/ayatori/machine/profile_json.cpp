#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ayatori/base/error.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::machine {

namespace {

constexpr const char* schema = "ayatori.machine-profile/1";

using Json = nlohmann::ordered_json;

Json json_of(const Estimate& e) {
  return {{"median", e.median}, {"low", e.low}, {"high", e.high}, {"samples", e.samples}};
}
Json json_of(const Cache& c) {
  return {{"level", c.level}, {"bytes", c.bytes}, {"sharers", c.sharers}};
}
Json json_of(const MemoryFigure& f) {
  return {{"kernel", f.kernel},
          {"threads", f.threads},
          {"bytes", f.bytes},
          {"bytes_per_second", json_of(f.bytes_per_second)}};
}
Json json_of(const BarrierFigure& f) {
  return {{"kind", f.kind}, {"threads", f.threads}, {"seconds", json_of(f.seconds)}};
}
Json json_of(const TransferFigure& f) {
  return {{"bytes", f.bytes}, {"seconds", json_of(f.seconds)}};
}
Json json_of(const TransferPiece& p) {
  return {{"from", p.from}, {"alpha", p.alpha}, {"beta", p.beta}};
}
Json json_of(const CollectiveFigure& f) {
  return {{"operation", f.operation}, {"bytes", f.bytes}, {"seconds", json_of(f.seconds)}};
}

Json json_of(const TransferCurve& c);  // made of lists, and elements of lists themselves
Json json_of(const Level& l);

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

Json json_of(const TransferCurve& c) {
  return {{"pattern", c.pattern},
          {"pairs", c.pairs},
          {"points", list_of(c.points)},
          {"pieces", list_of(c.model.pieces)},
          {"fit_error", c.model.error}};
}
Json json_of(const Level& l) {
  return {{"name", l.name},
          {"groups", l.structure.groups},
          {"group_of_rank", l.structure.group_of},
          {"short_message_seconds",
           {{"least", l.structure.least_seconds},
            {"typical", l.structure.typical_seconds},
            {"most", l.structure.most_seconds}}},
          {"curves", list_of(l.curves)}};
}
Json json_of(const Node& n) {
  return {{"hostname", n.hostname},
          {"processor", n.processor},
          {"packages", n.packages},
          {"numa_nodes", n.numa_nodes},
          {"cores", n.cores},
          {"processing_units", n.processing_units},
          {"memory_bytes", n.memory_bytes},
          {"caches", list_of(n.caches)}};
}

void read(const Json& json, Estimate& e) {
  e = {json.at("median"), json.at("low"), json.at("high"), json.at("samples")};
}
void read(const Json& json, Cache& c) {
  c = {json.at("level"), json.at("bytes"), json.at("sharers")};
}
void read(const Json& json, MemoryFigure& f) {
  f = {json.at("kernel"), json.at("threads"), json.at("bytes"), {}};
  read(json.at("bytes_per_second"), f.bytes_per_second);
}
void read(const Json& json, BarrierFigure& f) {
  f = {json.at("kind"), json.at("threads"), {}};
  read(json.at("seconds"), f.seconds);
}
void read(const Json& json, TransferFigure& f) {
  f = {json.at("bytes"), {}};
  read(json.at("seconds"), f.seconds);
}
void read(const Json& json, TransferPiece& p) {
  p = {json.at("from"), json.at("alpha"), json.at("beta")};
}
void read(const Json& json, CollectiveFigure& f) {
  f = {json.at("operation"), json.at("bytes"), {}};
  read(json.at("seconds"), f.seconds);
}

void read(const Json& json, TransferCurve& c);
void read(const Json& json, Level& l);

template <class T>
void read(const Json& json, std::vector<T>& values) {
  for (const Json& element : json) read(element, values.emplace_back());
}

void read(const Json& json, TransferCurve& c) {
  c.pattern = json.at("pattern");
  c.pairs = json.at("pairs");
  read(json.at("points"), c.points);
  read(json.at("pieces"), c.model.pieces);
  c.model.error = json.at("fit_error");
}
void read(const Json& json, Level& l) {
  l.name = json.at("name");
  l.structure.groups = json.at("groups");
  l.structure.group_of = json.at("group_of_rank").get<std::vector<int>>();
  const Json& seconds = json.at("short_message_seconds");
  l.structure.least_seconds = seconds.at("least");
  l.structure.typical_seconds = seconds.at("typical");
  l.structure.most_seconds = seconds.at("most");
  read(json.at("curves"), l.curves);
}
void read(const Json& json, Node& n) {
  n.hostname = json.at("hostname");
  n.processor = json.at("processor");
  n.packages = json.at("packages");
  n.numa_nodes = json.at("numa_nodes");
  n.cores = json.at("cores");
  n.processing_units = json.at("processing_units");
  n.memory_bytes = json.at("memory_bytes");
  read(json.at("caches"), n.caches);
}

/// Who reads a profile may count on this.
void check(const Profile& profile) {
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  if (profile.ranks < 1 || profile.node_of_rank.size() != ranks)
    throw std::out_of_range("ranks and node_of_rank contradict each other");
  for (const Level& level : profile.levels) {
    if (level.structure.group_of.size() != ranks)
      throw std::out_of_range("ranks and group_of_rank contradict each other");
  }
}

}  // namespace

std::string to_json(const Profile& profile) {
  const Json json{{"schema", schema},
                  {"mpi", profile.mpi},
                  {"ranks", profile.ranks},
                  {"threads", profile.threads},
                  {"measuring_seconds", profile.measuring_seconds},
                  {"complete", profile.complete},
                  {"node", json_of(profile.node)},
                  {"node_of_rank", profile.node_of_rank},
                  {"memory", list_of(profile.memory)},
                  {"barriers", list_of(profile.barriers)},
                  {"levels", list_of(profile.levels)},
                  {"collectives", list_of(profile.collectives)}};
  return json.dump(1) + "\n";
}

Profile profile_from_json(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != schema)
      throw InputError(fmt::format("{}: the schema is {}, not {}: make it again with `ayatori probe`", name,
                                   json.at("schema").dump(), schema));
    Profile profile;
    profile.mpi = json.at("mpi");
    profile.ranks = json.at("ranks");
    profile.threads = json.at("threads");
    profile.measuring_seconds = json.at("measuring_seconds");
    profile.complete = json.at("complete");
    read(json.at("node"), profile.node);
    profile.node_of_rank = json.at("node_of_rank").get<std::vector<int>>();
    read(json.at("memory"), profile.memory);
    read(json.at("barriers"), profile.barriers);
    read(json.at("levels"), profile.levels);
    read(json.at("collectives"), profile.collectives);
    check(profile);
    return profile;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: not a machine profile: {}", name, error.what()));
  } catch (const std::out_of_range& error) {
    throw InputError(fmt::format("{}: not a machine profile: {}", name, error.what()));
  }
}

Profile load_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw InputError(fmt::format("{}: cannot be read", path));
  return profile_from_json(text.str(), path);
}

std::string default_profile_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (auto path = variable("AYATORI_PROFILE"); !path.empty()) return path;
  std::string folder = variable("XDG_CACHE_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.cache";
  return folder.empty() ? "" : folder + "/ayatori/profile-" + hostname() + ".json";
}

}  // namespace ayatori::machine
