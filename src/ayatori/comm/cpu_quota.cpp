#include "ayatori/comm/cpu_quota.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace ayatori::comm {

namespace {

namespace fs = std::filesystem;

/// Where a hierarchy of groups can be seen, and where this process is in it.
struct Hierarchy {
  fs::path mount_point;
  fs::path mounted;  ///< the group that is seen there
  fs::path group;
  bool is_unified = false;  ///< version 2
};

bool has_word(const std::string& list, std::string_view wanted) {
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == wanted) return true;
  }
  return false;
}

/// The group of this process by /proc/self/cgroup: lines of "number:controllers:path".
std::optional<std::string> group_of(const std::string& root, bool is_unified) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_unified ? controllers.empty() : has_word(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// By /proc/self/mountinfo: "... mounted mount_point options ... - type source options".
std::optional<Hierarchy> find_hierarchy(const std::string& root, bool is_unified) {
  const auto group = group_of(root, is_unified);
  if (!group) return std::nullopt;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string skipped;
    std::string mounted;
    std::string mount_point;
    std::string type;
    std::string options;
    before >> skipped >> skipped >> skipped >> mounted >> mount_point;
    after >> type >> skipped >> options;
    if (is_unified ? type == "cgroup2" : type == "cgroup" && has_word(options, "cpu"))
      return Hierarchy{root + mount_point, mounted, *group, is_unified};
  }
  return std::nullopt;
}

/// Processors by the files of a group; 0 without a limit.
double limit_of(const fs::path& group, bool is_unified) {
  double quota = 0;
  double period = 0;
  if (is_unified) {
    std::ifstream file(group / "cpu.max");  // "max 100000" where there is none
    if (!(file >> quota >> period)) return 0;
  } else {
    if (!(std::ifstream(group / "cpu.cfs_quota_us") >> quota)) return 0;  // -1 where there is none
    if (!(std::ifstream(group / "cpu.cfs_period_us") >> period)) return 0;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

std::uint64_t number_of(const fs::path& group) {
  struct stat status {};
  return stat(group.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

void look_at(const fs::path& group, bool is_unified, CpuQuota& tightest) {
  const double processors = limit_of(group, is_unified);
  if (processors > 0 && (tightest.processors == 0 || processors < tightest.processors))
    tightest = {processors, number_of(group)};
}

}  // namespace

CpuQuota find_cpu_quota(const std::string& root) {
  CpuQuota tightest;
  for (const bool is_unified : {true, false}) {
    const auto hierarchy = find_hierarchy(root, is_unified);
    if (!hierarchy) continue;
    // Inside a container the path may be one that only its host sees: then what is mounted is the group.
    const auto below = hierarchy->group.lexically_relative(hierarchy->mounted);
    const bool is_seen = !below.empty() && *below.begin() != "..";
    look_at(hierarchy->mount_point, is_unified, tightest);
    if (!is_seen) continue;
    fs::path group = hierarchy->mount_point;
    for (const auto& name : below) {
      if (name == ".") continue;
      group /= name;
      look_at(group, is_unified, tightest);
    }
  }
  return tightest;
}

}  // namespace ayatori::comm
