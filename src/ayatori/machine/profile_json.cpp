#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "ayatori/base/json.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/machine/published_profiles.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::machine {

namespace {

constexpr std::string_view schemas = "ayatori.machine-profile/";  // beginning of the schemas of all versions
constexpr const char* schema = "ayatori.machine-profile/1";

using Json = nlohmann::ordered_json;

// Every type names its fields once: fields(value, f) calls f(name, member) for each, to write and to read.
// `V` is the type itself or const.
template <class V, class T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

template <class F>
void fields(Is<Estimate> auto& e, F&& f) {
  f("median", e.median);
  f("low", e.low);
  f("high", e.high);
  f("samples", e.samples);
}
template <class F>
void fields(Is<Cache> auto& c, F&& f) {
  f("level", c.level);
  f("bytes", c.bytes);
  f("sharers", c.sharers);
}
template <class F>
void fields(Is<Node> auto& n, F&& f) {
  f("hostname", n.hostname);
  f("processor", n.processor);
  f("packages", n.packages);
  f("numa_nodes", n.numa_nodes);
  f("cores", n.cores);
  f("processing_units", n.processing_units);
  f("memory_bytes", n.memory_bytes);
  f("caches", n.caches);
}
template <class F>
void fields(Is<MemoryFigure> auto& m, F&& f) {
  f("kernel", m.kernel);
  f("threads", m.threads);
  f("bytes", m.bytes);
  f("touched_by_one", m.touched_by_one);
  f("bytes_per_second", m.bytes_per_second);
}
template <class F>
void fields(Is<NumaFigure> auto& n, F&& f) {
  f("threads_node", n.threads_node);
  f("memory_node", n.memory_node);
  f("threads", n.threads);
  f("bytes_per_second", n.bytes_per_second);
}
template <class F>
void fields(Is<BarrierFigure> auto& b, F&& f) {
  f("kind", b.kind);
  f("threads", b.threads);
  f("seconds", b.seconds);
}
template <class F>
void fields(Is<PairTime> auto& p, F&& f) {
  f("first", p.first);
  f("second", p.second);
  f("seconds", p.seconds);
}
template <class F>
void fields(Is<TransferFigure> auto& t, F&& f) {
  f("bytes", t.bytes);
  f("seconds", t.seconds);
}
template <class F>
void fields(Is<TransferPiece> auto& p, F&& f) {
  f("from", p.from);
  f("alpha", p.alpha);
  f("beta", p.beta);
}
template <class F>
void fields(Is<TransferCurve> auto& c, F&& f) {
  f("pattern", c.pattern);
  f("pairs", c.pairs);
  f("points", c.points);
  f("pieces", c.model.pieces);
  f("fit_error", c.model.error);
}
template <class F>
void fields(Is<OverlapFigure> auto& o, F&& f) {
  f("bytes", o.bytes);
  f("transfer_seconds", o.transfer);
  f("compute_seconds", o.compute);
  f("together_seconds", o.together);
}
template <class F>
void fields(Is<FanFigure> auto& fan, F&& f) {
  f("partners", fan.partners);
  f("bytes", fan.bytes);
  f("seconds", fan.seconds);
}
template <class F>
void fields(Is<Level> auto& l, F&& f) {
  f("name", l.name);
  f("groups", l.structure.groups);
  f("group_of_rank", l.structure.group_of);
  f("least_seconds", l.structure.least_seconds);
  f("typical_seconds", l.structure.typical_seconds);
  f("most_seconds", l.structure.most_seconds);
  f("sharing_pairs", l.sharing_pairs);
  f("curves", l.curves);
  f("overlap", l.overlap);
  f("fan", l.fan);
  f("eager_bytes", l.eager_bytes);
}
template <class F>
void fields(Is<PortFigure> auto& p, F&& f) {
  f("name", p.name);
  f("bytes_per_second", p.bytes_per_second);
  f("moved_bytes", p.moved_bytes);
}
template <class F>
void fields(Is<ReductionCurve> auto& r, F&& f) {
  f("points", r.points);
  f("pieces", r.model.pieces);
  f("fit_error", r.model.error);
}
template <class F>
void fields(Is<CollectiveFigure> auto& c, F&& f) {
  f("operation", c.operation);
  f("ranks_per_node", c.ranks_per_node);
  f("ranks", c.ranks);
  f("bytes", c.bytes);
  f("seconds", c.seconds);
}
template <class F>
void fields(Is<DeviceFigure> auto& d, F&& f) {
  f("name", d.name);
  f("open_seconds", d.open_seconds);
  f("copy_bytes_per_second", d.copy);
  f("in_bytes_per_second", d.in);
  f("out_bytes_per_second", d.out);
  f("step_seconds", d.step);
  f("wait_seconds", d.wait);
}
template <class F>
void fields(Is<Profile> auto& p, F&& f) {
  f("source", p.source);
  f("mpi", p.mpi);
  f("ranks", p.ranks);
  f("threads", p.threads);
  f("measuring_seconds", p.measuring_seconds);
  f("complete", p.complete);
  f("threads_bound", p.threads_bound);
  f("usable_units", p.usable_units);
  f("node", p.node);
  f("node_of_rank", p.node_of_rank);
  f("memory", p.memory);
  f("numa", p.numa);
  f("barriers", p.barriers);
  f("pairs", p.pairs);
  f("levels", p.levels);
  f("ports", p.ports);
  f("reduction", p.reduction);
  f("collectives", p.collectives);
  f("device", p.device);
  f("left_out", p.left_out);
}

template <class T>
constexpr bool is_plain = std::is_arithmetic_v<T> || std::same_as<T, std::string>;
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

template <class T>
Json json_of(const T& value) {
  if constexpr (is_plain<T>) {
    return value;
  } else if constexpr (is_list<T>) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(json_of(element));
    return list;
  } else {
    Json object = Json::object();
    fields(value, [&]<class M>(const char* name, const M& member) {
      if constexpr (is_optional<M>) {
        if (member) object[name] = json_of(*member);
      } else {
        object[name] = json_of(member);
      }
    });
    return object;
  }
}

/// What profiles of version 0.1.0 may lack, and those of machines that have none.
bool is_newer(std::string_view name) {
  return name == "eager_bytes" || name == "pairs" || name == "fan" || name == "usable_units" ||
         name == "device";
}

template <class T>
void read(const Json& json, T& value) {
  if constexpr (std::same_as<T, std::string>) {
    value = printable(json.template get_ref<const std::string&>());
  } else if constexpr (std::same_as<T, bool>) {
    json.get_to(value);
  } else if constexpr (std::integral<T>) {
    value = whole_number<T>(json);
  } else if constexpr (std::floating_point<T>) {
    json.get_to(value);
  } else if constexpr (is_list<T>) {
    if (!json.is_array()) throw InputError("a list is something else");
    for (const Json& element : json) read(element, value.emplace_back());
  } else if constexpr (is_optional<T>) {
    read(json, value.emplace());
  } else {
    fields(value, [&](const char* name, auto& member) {
      if (json.contains(name) || !is_newer(name)) naming(name, [&] { read(json.at(name), member); });
    });
  }
}

/// Who reads a profile may count on this.
void check(const Profile& profile) {
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  if (profile.ranks < 1 || profile.node_of_rank.size() != ranks)
    throw InputError("ranks and node_of_rank contradict each other");
  for (const Level& level : profile.levels) {
    if (level.structure.group_of.size() != ranks)
      throw InputError("ranks and group_of_rank contradict each other");
  }
  for (const PairTime& pair : profile.pairs) {
    if (std::min(pair.first, pair.second) < 0 || std::max(pair.first, pair.second) >= profile.ranks)
      throw InputError("ranks and pairs contradict each other");
  }
  if (profile.device && !profile.device->is_possible())
    throw InputError("device: its rates must be positive, and its seconds not negative");
}

}  // namespace

std::string to_json(const Profile& profile) {
  Json json{{"schema", schema}};
  json.update(json_of(profile));
  return json.dump(1) + "\n";
}

Profile profile_from_json(const std::string& text, const std::string& name) {
  const std::string what = name + ": not a machine profile";
  const Json json = naming(what, [&] { return parse_ordered_json(text); });
  if (json.is_object() && json.contains("schema") && json["schema"] != schema)
    throw InputError(fmt::format("{}: the schema is {}, not {}: make it again with `ayatori probe`", name,
                                 in_words(json["schema"]), schema));
  return naming(what, [&] {
    [[maybe_unused]] const Json& has_schema = json.at("schema");
    Profile profile;
    read(json, profile);
    check(profile);
    return profile;
  });
}

Profile load_profile(const std::string& path) {
  for (const auto& published : published_profiles()) {
    if (published.name == path) return published.make();
  }
  return profile_from_json(naming(path, [&] { return read_regular_file(path, most_json_bytes); }), path);
}

std::string why_not_replaced(const std::string& path) {
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found) return "";
  std::string text;
  try {
    text = read_regular_file(path, most_json_bytes);
  } catch (const InputError& refused) {
    return refused.what();
  }
  if (text.empty()) return "";
  // A torn one is recognised by its beginning, which to_json() writes.
  std::string beginning;
  for (const char c : text.substr(0, 2 * schemas.size())) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) beginning += c;
  }
  if (beginning.starts_with(fmt::format("{{\"schema\":\"{}", schemas))) return "";
  try {
    const Json json = parse_ordered_json(text);
    if (json.is_object() && json.contains("schema") && json["schema"].is_string() &&
        json["schema"].get_ref<const std::string&>().starts_with(schemas))
      return "";
  } catch (const InputError&) {
    // something else
  }
  return "is no machine profile";
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
