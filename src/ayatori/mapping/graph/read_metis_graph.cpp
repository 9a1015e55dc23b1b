#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/mapping/graph/traffic.hpp"

namespace ayatori::mapping {

namespace {

/// The lines of a file that are no comments, as whole numbers.
class NumberLines {
 public:
  explicit NumberLines(const std::string& path) : path_(path) {
    check_regular_file(path);
    file_.open(path);
    if (!file_) throw InputError(fmt::format("{}: cannot be read", path));
  }

  /// Nothing at the end of the file.
  std::optional<std::vector<std::int64_t>> next() {
    std::string line;
    do {
      ++number_;
      if (!std::getline(file_, line)) return std::nullopt;
    } while (line.starts_with('%'));
    std::vector<std::int64_t> numbers;
    const char* at = line.data();
    const char* end = line.data() + line.size();
    const auto skip = [&] {
      while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
    };
    for (skip(); at != end; skip()) {
      std::int64_t value = 0;
      const auto [stopped, error] = std::from_chars(at, end, value);
      if (error != std::errc() || value < 0) refuse("no whole number that is not negative");
      numbers.push_back(value);
      at = stopped;
    }
    return numbers;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw InputError(fmt::format("{}, line {}: {}", path_, number_, what));
  }

 private:
  std::string path_;
  std::ifstream file_;
  int number_ = 0;
};

}  // namespace

Traffic read_metis_graph(const std::string& path) {
  constexpr std::int64_t most_ranks = std::int64_t{1} << 24;
  NumberLines lines(path);
  const auto header = lines.next();
  if (!header || header->size() < 2 || header->size() > 4)
    lines.refuse("the first line of a METIS graph has its vertices, its edges, and perhaps a format");
  const std::int64_t format = header->size() > 2 ? (*header)[2] : 0;
  if (format > 111 || format % 10 > 1 || format / 10 % 10 > 1)
    lines.refuse("the format is not one of METIS's");
  const bool has_weights = format % 10 == 1;
  const std::int64_t vertex_weights = format / 10 % 10 == 0 ? 0 : header->size() > 3 ? (*header)[3] : 1;
  const std::int64_t before = (format / 100) + vertex_weights;
  if ((*header)[0] < 1 || (*header)[0] > most_ranks) lines.refuse("the number of vertices is out of range");

  Traffic traffic;
  traffic.ranks = static_cast<int>((*header)[0]);
  for (int rank = 0; rank < traffic.ranks; ++rank) {
    const auto numbers = lines.next();
    if (!numbers) lines.refuse(fmt::format("the file ends at vertex {} of {}", rank + 1, traffic.ranks));
    const std::size_t step = has_weights ? 2 : 1;
    const auto skipped = static_cast<std::size_t>(before);
    if (numbers->size() < skipped || (numbers->size() - skipped) % step != 0)
      lines.refuse("a number is missing");
    for (std::size_t k = skipped; k < numbers->size(); k += step) {
      const std::int64_t peer = (*numbers)[k];
      if (peer < 1 || peer > traffic.ranks) lines.refuse(fmt::format("there is no vertex {}", peer));
      traffic.messages.push_back({rank, static_cast<int>(peer - 1), 1, has_weights ? (*numbers)[k + 1] : 1});
    }
  }
  if (static_cast<std::int64_t>(traffic.messages.size()) != 2 * (*header)[1])
    lines.refuse(fmt::format("{} edges were promised, {} are there", (*header)[1],
                             static_cast<double>(traffic.messages.size()) / 2));
  return traffic;
}

}  // namespace ayatori::mapping
