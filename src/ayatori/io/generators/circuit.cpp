#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/complex_rows.hpp"
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
// circuit-ac: the same circuit at an angular frequency. A share `inductors` of the resistors are inductors
// instead, 1 / (i frequency L), and the others have a capacitor beside them, g + i frequency C; 1 / L and C
// span as many decades as g. Voltages and currents are complex.
//
// Pins come first, then nets, then sources.

namespace ayatori::io {

namespace {

/// What joins nodes: three elements belong to each pin.
enum Element : std::uint64_t { to_next, to_below, to_net };

class Resistors {
 public:
  using Value = double;

  explicit Resistors(const GeneratorParameters& parameters)
      : seed_(static_cast<std::uint64_t>(parameters.integer("seed"))), range_(parameters.real("range")) {}

  double conductance(std::int64_t pin, Element element) const { return in_decades(1, pin, element); }
  double admittance(std::int64_t pin, Element element) const { return conductance(pin, element); }

 protected:
  /// In [0, 1), of its own for each stream.
  double random(std::uint64_t stream, std::int64_t pin, Element element) const {
    return random_uniform(seed_ + stream, 3 * static_cast<std::uint64_t>(pin) + element);
  }
  double in_decades(std::uint64_t stream, std::int64_t pin, Element element) const {
    return std::pow(10.0, -range_ * random(stream, pin, element));
  }

 private:
  std::uint64_t seed_;
  double range_;
};

class Impedances : public Resistors {
 public:
  using Value = sparse::Complex;

  explicit Impedances(const GeneratorParameters& parameters)
      : Resistors(parameters),
        frequency_(parameters.real("frequency")),
        inductors_(parameters.real("inductors")) {}

  sparse::Complex admittance(std::int64_t pin, Element element) const {
    const double reactive = in_decades(3, pin, element);
    if (random(4, pin, element) < inductors_) return {0, -reactive / frequency_};
    return {conductance(pin, element), frequency_ * reactive};
  }

 private:
  double frequency_;
  double inductors_;
};

/// Elements tells conductance and admittance of each.
template <class Elements>
class Circuit {
 public:
  using Value = typename Elements::Value;

  explicit Circuit(const GeneratorParameters& parameters)
      : pins_(parameters.integer("n")),
        nets_(std::max<std::int64_t>(1, pins_ / 50)),
        sources_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(parameters.real("sources") * static_cast<double>(pins_)))),
        line_(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(pins_))))),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))),
        elements_(parameters),
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

  void add_row(std::int64_t i, BasicRowBuilder<Value>& row) const {
    if (i < pins_) {
      add_pin(i, row);
    } else if (i < pins_ + nets_) {
      add_net(i - pins_, row);
    } else {
      add_source(i - pins_ - nets_, row);
    }
  }

 private:
  /// Gain of the current that the next pin controls; 0 if none does.
  double gain(std::int64_t pin) const {
    const bool is_controlled = random_uniform(seed_ + 2, static_cast<std::uint64_t>(pin)) < controlled_;
    return is_controlled && pin + 1 < pins_ ? 10 * elements_.conductance(pin, to_net) : 0;
  }
  std::int64_t net_of(std::int64_t pin) const {
    const auto place = static_cast<std::int64_t>(net_places_(static_cast<std::uint64_t>(pin)));
    return std::ranges::upper_bound(net_start_, place) - net_start_.begin() - 1;
  }

  void add_pin(std::int64_t i, BasicRowBuilder<Value>& row) const {
    Value centre = 1e-12;
    const auto join = [&](std::int64_t other, Value y) {
      row.add(other, -y);
      centre += y;
    };
    if (i >= line_) join(i - line_, elements_.admittance(i - line_, to_below));
    if (i >= 1) join(i - 1, elements_.admittance(i - 1, to_next));
    if (i + 1 < pins_) join(i + 1, elements_.admittance(i, to_next));
    if (i + line_ < pins_) join(i + line_, elements_.admittance(i, to_below));
    const std::int64_t net = pins_ + net_of(i);
    join(net, elements_.admittance(i, to_net));
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

  void add_net(std::int64_t net, BasicRowBuilder<Value>& row) const {
    Value centre = 1e-12;
    for (std::int64_t place = net_start_[net]; place < net_start_[net + 1]; ++place) {
      const auto pin = static_cast<std::int64_t>(net_places_.inverse(static_cast<std::uint64_t>(place)));
      const Value y = elements_.admittance(pin, to_net);
      row.add(pin, -y);
      centre += y;
      if (const double controlled = gain(pin); controlled > 0) {
        row.add(pin + 1, -controlled);
        centre += controlled;
      }
    }
    row.add(pins_ + net, centre);
  }

  void add_source(std::int64_t source, BasicRowBuilder<Value>& row) const {
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
  Elements elements_;
  double controlled_;
  Permutation net_places_;
  Permutation source_places_;
  std::vector<std::int64_t> net_start_;  ///< among shuffled pins
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const auto circuit = std::make_shared<const Circuit<Resistors>>(parameters);
  return {circuit->rows(), [=](std::int64_t i, RowBuilder& row) { circuit->add_row(i, row); }};
}

GeneratedMatrix make_ac(const GeneratorParameters& parameters) {
  const auto circuit = std::make_shared<const Circuit<Impedances>>(parameters);
  return real_form(circuit->rows(),
                   [=](std::int64_t i, ComplexRowBuilder& row) { circuit->add_row(i, row); });
}

constexpr GeneratorParameter controlled{
    "controlled", 0.1, 0, 1, false, "share of pins with a controlled current"};
constexpr GeneratorParameter sources{"sources", 0.01,  0,
                                     0.25,      false, "voltage sources per pin; one at least"};
constexpr GeneratorParameter seed{"seed", 1, 0, 4294967295, true, "of the random numbers"};
constexpr std::array parameters_dc{
    GeneratorParameter{"n", 20000, 4, 1e10, true, "pins; about 1.03 n unknowns"},
    GeneratorParameter{"range", 6, 0, 15, false, "decades that conductances span"}, controlled, sources,
    seed};
constexpr std::array parameters_ac{
    GeneratorParameter{"n", 20000, 4, 1e10, true, "pins; about 1.03 n complex unknowns"},
    GeneratorParameter{"range", 6, 0, 15, false, "decades that conductances and capacitances span"},
    GeneratorParameter{"frequency", 1, 1e-12, 1e12, false,
                       "angular; at 1 capacitors pass as much as resistors"},
    GeneratorParameter{"inductors", 0.05, 0, 1, false, "share of elements that are inductors"},
    controlled,
    sources,
    seed};

}  // namespace

const Generator circuit{"circuit", "Nodal analysis of a circuit with nets of all sizes and voltage sources",
                        false, parameters_dc, make};
const Generator circuit_ac{"circuit-ac", "Nodal analysis of such a circuit at a frequency: complex",
                           false,        parameters_ac,
                           make_ac,      true};

}  // namespace ayatori::io
