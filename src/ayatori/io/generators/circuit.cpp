#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/permutation.hpp"

// A circuit by modified nodal analysis (Ho, Ruehli & Brennan, IEEE Trans. Circuits Syst. 22, 1975): voltages
// of n pins and of n / 50 nets, and the current of each voltage source.
//
// Pins are laid out in lines; resistors join each with the next one and with the one a line below. Every pin
// also has a resistor to a net, which it finds at random; net k has about k^-1 of the pins, so that the first
// ones have very many. Conductances are 10^-(range u) with u uniform in [0, 1). From a share `controlled` of
// the pins flows a current g (V_next - V_net) to its net, g being ten times that of its resistor: a
// transistor, which makes the matrix unsymmetric. A share `sources` of the pins has a voltage source, every
// other one to ground, the others to another pin: its row has no diagonal entry. 1e-12 from every node to
// ground, as simulators add it.
//
// Pins come first, then nets, then sources.

namespace ayatori::io {

namespace {

class Circuit {
 public:
  explicit Circuit(const GeneratorParameters& parameters)
      : pins_(parameters.integer("n")),
        nets_(std::max<std::int64_t>(1, pins_ / 50)),
        sources_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(parameters.real("sources") * static_cast<double>(pins_)))),
        line_(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(pins_))))),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))),
        range_(parameters.real("range")),
        controlled_(parameters.real("controlled")),
        net_places_(static_cast<std::uint64_t>(pins_), random_bits(seed_, 0)),
        source_places_(static_cast<std::uint64_t>(pins_), random_bits(seed_, 1)) {
    double sum = 0;
    for (std::int64_t k = 0; k < nets_; ++k) sum += 1 / static_cast<double>(k + 1);
    double at = 0;
    for (std::int64_t k = 0; k < nets_; ++k) {
      net_start_.push_back(static_cast<std::int64_t>(at / sum * static_cast<double>(pins_)));
      at += 1 / static_cast<double>(k + 1);
    }
    net_start_.push_back(pins_);
  }

  std::int64_t rows() const { return pins_ + nets_ + sources_; }

  void add_row(std::int64_t i, RowBuilder& row) const {
    if (i < pins_) {
      add_pin(i, row);
    } else if (i < pins_ + nets_) {
      add_net(i - pins_, row);
    } else {
      add_source(i - pins_ - nets_, row);
    }
  }

 private:
  enum Resistor : std::uint64_t { to_next, to_below, to_net };

  double conductance(std::int64_t pin, Resistor kind) const {
    return std::pow(10.0, -range_ * random_uniform(seed_ + 1, 3 * static_cast<std::uint64_t>(pin) + kind));
  }
  /// Of the current that the next pin controls; 0 if none does.
  double gain(std::int64_t pin) const {
    const bool is_controlled = random_uniform(seed_ + 2, static_cast<std::uint64_t>(pin)) < controlled_;
    return is_controlled && pin + 1 < pins_ ? 10 * conductance(pin, to_net) : 0;
  }
  std::int64_t net_of(std::int64_t pin) const {
    const auto place = static_cast<std::int64_t>(net_places_(static_cast<std::uint64_t>(pin)));
    return std::ranges::upper_bound(net_start_, place) - net_start_.begin() - 1;
  }

  void add_pin(std::int64_t i, RowBuilder& row) const {
    double centre = 1e-12;
    const auto join = [&](std::int64_t other, double g) {
      row.add(other, -g);
      centre += g;
    };
    if (i >= line_) join(i - line_, conductance(i - line_, to_below));
    if (i >= 1) join(i - 1, conductance(i - 1, to_next));
    if (i + 1 < pins_) join(i + 1, conductance(i, to_next));
    if (i + line_ < pins_) join(i + line_, conductance(i, to_below));
    const std::int64_t net = pins_ + net_of(i);
    join(net, conductance(i, to_net));
    row.add(i, centre);
    if (const double g = gain(i); g > 0) {
      row.add(i + 1, g);
      row.add(net, -g);
    }
    // Place 2 k of the shuffled pins is where source k ends, place 2 k + 1 where it begins if k is odd.
    const auto place = static_cast<std::int64_t>(source_places_(static_cast<std::uint64_t>(i)));
    const std::int64_t source = place / 2;
    if (source < sources_ && (place % 2 == 0 || source % 2 == 1))
      row.add(pins_ + nets_ + source, place % 2 == 0 ? 1 : -1);
  }

  void add_net(std::int64_t net, RowBuilder& row) const {
    double centre = 1e-12;
    for (std::int64_t place = net_start_[net]; place < net_start_[net + 1]; ++place) {
      const auto pin = static_cast<std::int64_t>(net_places_.inverse(static_cast<std::uint64_t>(place)));
      const double g = conductance(pin, to_net);
      row.add(pin, -g);
      centre += g;
      if (const double controlled = gain(pin); controlled > 0) {
        row.add(pin + 1, -controlled);
        centre += controlled;
      }
    }
    row.add(pins_ + net, centre);
  }

  void add_source(std::int64_t source, RowBuilder& row) const {
    for (const std::int64_t end : {0, 1}) {
      if (end == 1 && source % 2 == 0) continue;
      const std::int64_t place = 2 * source + end;
      row.add(static_cast<std::int64_t>(source_places_.inverse(static_cast<std::uint64_t>(place))),
              end == 0 ? 1 : -1);
    }
  }

  std::int64_t pins_;
  std::int64_t nets_;
  std::int64_t sources_;
  std::int64_t line_;
  std::uint64_t seed_;
  double range_;
  double controlled_;
  Permutation net_places_;
  Permutation source_places_;
  std::vector<std::int64_t> net_start_;  ///< among shuffled pins
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const auto circuit = std::make_shared<const Circuit>(parameters);
  return {circuit->rows(), [=](std::int64_t i, RowBuilder& row) { circuit->add_row(i, row); }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 20000, 4, 1e10, true, "pins; about 1.03 n unknowns"},
    GeneratorParameter{"range", 6, 0, 15, false, "decades that conductances span"},
    GeneratorParameter{"controlled", 0.1, 0, 1, false, "share of pins with a controlled current"},
    GeneratorParameter{"sources", 0.01, 0, 0.25, false, "voltage sources per pin; one at least"},
    GeneratorParameter{"seed", 1, 0, 4294967295, true, "of the random numbers"}};

}  // namespace

const Generator circuit{"circuit", "Nodal analysis of a circuit with nets of all sizes and voltage sources",
                        false, parameters, make};

}  // namespace ayatori::io
