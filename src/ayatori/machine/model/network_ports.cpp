#include "ayatori/machine/model/network_ports.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ayatori::machine {

namespace {

namespace fs = std::filesystem;

constexpr double bytes_in_megabit = 1e6 / 8;
constexpr double bytes_in_gigabit = 1e9 / 8;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The file's first number; `otherwise` where there is none.
double number_in(const fs::path& path, double otherwise) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : otherwise;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  std::ranges::sort(paths);
  return paths;
}

/// proc/net/dev is the one of the caller's network namespace; sys/ may be that of another.
void find_devices(const fs::path& root, std::vector<PortFigure>& ports) {
  std::ifstream file(root / "proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    const fs::path about = root / "sys/class/net" / name;
    if (name == "lo" || is_there(about / "bridge") || is_there(about / "tun_flags")) continue;
    std::string state = "unknown";
    std::ifstream(about / "operstate") >> state;
    if (state == "down") continue;
    std::istringstream counts(line.substr(colon + 1));
    std::int64_t received = 0;
    std::int64_t sent = 0;
    counts >> received;
    for (int skipped = 0; skipped < 7; ++skipped) counts >> sent;
    counts >> sent;
    const double megabits = number_in(about / "speed", 0);  // -1 where it has none
    ports.push_back({name, std::max(megabits, 0.0) * bytes_in_megabit, received + sent});
  }
}

void find_infiniband(const fs::path& root, std::vector<PortFigure>& ports) {
  for (const auto& device : entries(root / "sys/class/infiniband")) {
    for (const auto& port : entries(device / "ports")) {
      std::string state;
      std::ifstream file(port / "state");
      std::getline(file, state);
      if (state.find("ACTIVE") == std::string::npos) continue;
      constexpr std::int64_t word = 4;  // the counters count words
      const double words =
          number_in(port / "counters/port_xmit_data", 0) + number_in(port / "counters/port_rcv_data", 0);
      ports.push_back({device.filename().string() + "/" + port.filename().string(),
                       number_in(port / "rate", 0) * bytes_in_gigabit,
                       word * static_cast<std::int64_t>(words)});
    }
  }
}

}  // namespace

std::vector<PortFigure> find_network_ports(const std::string& root) {
  std::vector<PortFigure> ports;
  find_devices(root, ports);
  find_infiniband(root, ports);
  return ports;
}

std::vector<PortFigure> traffic_between(const std::vector<PortFigure>& before,
                                        const std::vector<PortFigure>& after) {
  std::vector<PortFigure> traffic;
  for (PortFigure port : after) {
    const auto earlier = std::ranges::find(before, port.name, &PortFigure::name);
    if (earlier == before.end()) continue;
    port.moved_bytes -= earlier->moved_bytes;
    traffic.push_back(port);
  }
  return traffic;
}

}  // namespace ayatori::machine
