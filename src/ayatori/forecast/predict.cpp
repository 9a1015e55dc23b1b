#include "ayatori/forecast/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ayatori::forecast {

namespace {

constexpr std::array<PhaseType, phase_count> types{
    PhaseType{"product", Resource::memory, "memory, by the product",
              "more nodes, or a kernel that stores the matrix in fewer bytes",
              "what memory gives to products"},
    PhaseType{"vectors", Resource::memory, "memory, by vector operations",
              "more nodes, or threads on idle memory channels", "what memory gives to vector operations"},
    PhaseType{"imbalance", Resource::balance, "uneven parts", "another partition", "uneven parts"},
    PhaseType{"halo latency", Resource::latency, "latency, by the halo exchange",
              "fewer ranks per node with more threads, or messages gathered by node",
              "the latency of halo exchanges"},
    PhaseType{"halo bandwidth", Resource::bandwidth, "bandwidth, by the halo exchange",
              "more ports (rails), or a partition that cuts less", "the bandwidth of halo exchanges"},
    PhaseType{"reductions", Resource::latency, "latency, by the reductions",
              "fewer ranks with more threads, or schedules found for this machine",
              "the latency of reductions"}};

/// What two things are compared by.
struct Part {
  std::string_view name;
  double (*seconds)(const Forecast& forecast);
};

constexpr std::array parts{
    Part{"products", [](const Forecast& f) { return f[Phase::product]; }},
    Part{"vector operations", [](const Forecast& f) { return f[Phase::vectors]; }},
    Part{"halo exchanges",
         [](const Forecast& f) { return f[Phase::halo_latency] + f[Phase::halo_bandwidth]; }},
    Part{"reductions", [](const Forecast& f) { return f[Phase::reductions]; }},
    Part{"messages",
         [](const Forecast& f) {
           return f[Phase::halo_latency] + f[Phase::halo_bandwidth] + f[Phase::reductions];
         }},
    Part{"computing",
         [](const Forecast& f) { return f[Phase::product] + f[Phase::vectors] + f[Phase::imbalance]; }}};

struct Pair {
  int first;
  int second;
};
/// Pairs of `parts` that are held against each other.
constexpr std::array pairs{Pair{2, 0}, Pair{3, 0}, Pair{3, 1}, Pair{3, 2}, Pair{4, 5}};

/// From where on the order of two parts is another one than at the beginning, to the last shape.
void add_crossover(std::span<const Forecast> forecasts, const Pair& pair, std::vector<std::string>& found) {
  const auto is_more = [&](const Forecast& forecast) {
    return parts[pair.first].seconds(forecast) > parts[pair.second].seconds(forecast);
  };
  const bool at_last = is_more(forecasts.back());
  if (is_more(forecasts.front()) == at_last) return;
  std::size_t from = forecasts.size() - 1;
  while (is_more(forecasts[from - 1]) == at_last) --from;
  const auto [more, less] = at_last ? pair : Pair{pair.second, pair.first};
  found.push_back(fmt::format("from {} on {} take more than {}", describe(forecasts[from].shape),
                              parts[more].name, parts[less].name));
}

std::string_view opposite(Resource resource) {
  if (resource == Resource::bandwidth) return ", not latency";
  return resource == Resource::latency ? ", not bandwidth" : "";
}

/// What takes longer in the last forecast than its share of the first one, spread over as many nodes.
std::string describe_loss(const Forecast& first, const Forecast& last) {
  const double scale = static_cast<double>(first.shape.ranks()) / last.shape.ranks();
  std::array<double, phase_count> excess{};
  for (int phase = 0; phase < phase_count; ++phase)
    excess[phase] = last.seconds[phase] - scale * first.seconds[phase];
  const auto longest = std::ranges::max_element(excess);
  const double ideal = scale * first.total();
  if (scale >= 1 || !(*longest > 0) || !(last.total() > ideal)) return "";
  const auto& type = types[longest - excess.begin()];
  return fmt::format("efficiency falls to {:.2f} on {} mostly by {}{}: {:.1f} of {:.1f} us lost",
                     ideal / last.total(), describe(last.shape), type.loss, opposite(type.resource),
                     1e6 * *longest, 1e6 * (last.total() - ideal));
}

}  // namespace

const PhaseType& type_of(Phase phase) {
  return types[static_cast<int>(phase)];
}

double Forecast::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

Phase Forecast::bound() const {
  return static_cast<Phase>(std::ranges::max_element(seconds) - seconds.begin());
}

double Forecast::waiting_for(Resource resource) const {
  double sum = 0;
  for (int phase = 0; phase < phase_count; ++phase) {
    if (types[phase].resource == resource) sum += seconds[phase];
  }
  return sum;
}

std::optional<Resource> Forecast::network_side() const {
  const double bandwidth = waiting_for(Resource::bandwidth);
  const double latency = waiting_for(Resource::latency);
  if (bandwidth + latency == 0) return std::nullopt;
  return bandwidth > latency ? Resource::bandwidth : Resource::latency;
}

std::string describe(const JobShape& shape) {
  std::string text = fmt::format("{} node{}", shape.nodes, shape.nodes == 1 ? "" : "s");
  if (shape.ranks_per_node > 1) text += fmt::format(" x {} ranks", shape.ranks_per_node);
  return text;
}

Forecast predict(const SpreadMatrix& matrix, const IterationWork& work,
                 const VectorPreconditioner& preconditioner, const JobMachine& machine,
                 const network::Network* network) {
  Forecast forecast{.shape = machine.shape()};
  double products = 0;
  double vectors = 0;
  double longest = 0;
  const double doubles = work.traffic + work.preconditionings * preconditioner.traffic;
  for (const RankShare& rank : matrix.ranks) {
    const auto working_set =
        static_cast<double>(rank.matrix_bytes() + 8 * (work.vectors * rank.rows + rank.ghosts + rank.sent));
    const double rate = machine.memory_rate(working_set);
    const double product = work.products * static_cast<double>(rank.product_bytes()) / rate;
    const double vector = 8 * doubles * static_cast<double>(rank.rows) / rate;
    products += product;
    vectors += vector;
    longest = std::max(longest, product + vector);
    if (working_set >= forecast.working_set) {
      forecast.working_set = working_set;
      forecast.rate = rate;
    }
  }
  const auto ranks = static_cast<double>(matrix.ranks.size());
  const auto halo = machine.exchange(matrix.messages, network);
  const double reduction = machine.allreduce_seconds(8 * work.summed);
  const double hidden = std::min(reduction, products / ranks + work.products * halo.total());
  forecast.seconds = {products / ranks,
                      vectors / ranks,
                      std::max(0.0, longest - (products + vectors) / ranks),
                      work.products * halo.latency,
                      work.products * halo.bandwidth,
                      work.reductions * reduction - work.overlapped * hidden};
  for (const auto& message : matrix.messages) {
    forecast.messages += message.messages;
    forecast.bytes += message.bytes;
  }
  return forecast;
}

Conclusion conclude(std::span<const Forecast> forecasts) {
  Conclusion conclusion;
  for (const Pair& pair : pairs) add_crossover(forecasts, pair, conclusion.crossovers);
  const auto& last = forecasts.back();
  conclusion.scaling = describe_loss(forecasts.front(), last);
  const auto& type = type_of(last.bound());
  const auto side = last.network_side();
  const bool is_said = side == type.resource;
  const std::string_view of_network =
      is_said || !side ? ""
                       : (*side == Resource::bandwidth ? "; of the network it is bandwidth, not latency"
                                                       : "; of the network it is latency, not bandwidth");
  const auto fastest = std::ranges::min_element(forecasts, {}, &Forecast::total);
  conclusion.sentence = fmt::format(
      "{}: what bounds an iteration is {}{} ({:.0f} % of it): {} would help{}; twice the bandwidth of the "
      "network makes it {:.2f} times as fast, half the latency {:.2f} times, memory twice as fast {:.2f} "
      "times",
      describe(last.shape), type.bound, is_said ? opposite(type.resource) : "",
      100 * last.share(last.bound()), type.help, of_network, last.gain(Resource::bandwidth),
      last.gain(Resource::latency), last.gain(Resource::memory));
  if (fastest->shape.ranks() != last.shape.ranks())
    conclusion.sentence += fmt::format("; {} are faster", describe(fastest->shape));
  return conclusion;
}

}  // namespace ayatori::forecast
