// What the policy makes of recorded systems, without solving anything: its looks, changes and set-ups, on
// histories of residuals.
//
// usage: replay_policy MODEL SYSTEMS [trace]
// Both files are written by crossvalidate.py. For each system a line: products in all, the arm that began,
// the arm that ended, arms that ran. With `trace` every change is told on standard error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/tuning/model/forecast.hpp"
#include "ayatori/tuning/policy/policy.hpp"

namespace {

using namespace ayatori;
using namespace ayatori::tuning;

/// Suspended and at work, at most.
constexpr std::size_t deepest = 2;
/// Share of the set-up of complete factors that is spent until their price is known.
constexpr double share_of_analysis = 0.3;

template <class T>
T read(std::istream& file) {
  T value;
  if (!(file >> value)) throw InputError("the file ends early");
  return value;
}

struct Model {
  std::vector<std::string> arm_names;
  std::vector<std::string> family_names;
  std::vector<std::string_view> arms;
  std::vector<std::string_view> families;
  std::vector<std::int16_t> numbers;
};

Model read_model(const std::string& path) {
  std::ifstream file(path);
  Model model;
  model.arm_names.resize(read<std::size_t>(file));
  model.family_names.resize(read<std::size_t>(file));
  model.numbers.resize(read<std::size_t>(file));
  file.ignore();
  for (auto* names : {&model.arm_names, &model.family_names})
    for (std::string& name : *names) std::getline(file, name);
  for (std::int16_t& number : model.numbers) number = static_cast<std::int16_t>(read<int>(file));
  model.arms.assign(model.arm_names.begin(), model.arm_names.end());
  model.families.assign(model.family_names.begin(), model.family_names.end());
  return model;
}

/// What an arm did on a system: costs in products; `solves` to the tolerance after this many iterations, or
/// it ends there without.
struct Truth {
  bool is_known = false;
  bool solves = false;
  double set_up = 0;
  double iteration = 0;
  ArmRecord record;
};

struct System {
  SystemTraits traits;
  double overhead = 0;  ///< facts and verification
  std::vector<Truth> arms;
};

System read_system(std::istream& file, std::size_t arms) {
  System system;
  system.traits.rows = read<double>(file);
  system.traits.most_with_diagonal = read<double>(file);
  system.overhead = read<double>(file);
  for (std::int16_t& feature : system.traits.features) feature = static_cast<std::int16_t>(read<int>(file));
  system.arms.resize(arms);
  for (Truth& arm : system.arms) {
    const int outcome = read<int>(file);
    arm.is_known = outcome != 0;
    arm.solves = outcome == 1;
    arm.record.outcome = static_cast<ArmRecord::Outcome>(outcome);
    arm.set_up = read<double>(file);
    arm.iteration = read<double>(file);
    arm.record.iterations = read<double>(file);
    for (float& digits : arm.record.digits) digits = read<float>(file);
  }
  return system;
}

/// A solve of a recorded system by the policy.
class Replay {
 public:
  Replay(const Records& records, const System& system, bool trace)
      : system_(system),
        forecast_(records, system.traits, kin(system.arms.size())),
        names_(records.arms()),
        trace_(trace) {
    progress_.arms.resize(system.arms.size());
    for (std::size_t i = 0; i < system.arms.size(); ++i) {
      progress_.arms[i].may_run = system.arms[i].is_known;
      progress_.arms[i].is_complete = records.arms()[i].ends_with(" direct");
      if (progress_.arms[i].is_complete) complete_ = i;
    }
  }

  /// Products until an arm has solved the system; infinite if none has.
  double run() {
    while (!is_solved_) {
      const Progress progress = now();
      const auto action = next_action(forecast_.expected(progress), progress, complete_);
      if (!action) return std::numeric_limits<double>::infinity();
      if (stack_.empty() || action->arm != stack_.back()) {
        if (trace_)
          fmt::print(stderr, "{:8.0f} products, {:.1f} digits: {}: {}\n", progress_.products_spent,
                     digits_reached_, names_[action->arm], action->why);
        turn_to(action->arm);
      }
      if (!stack_.empty() && !is_solved_) advance();
    }
    return system_.overhead + progress_.products_spent;
  }

  std::size_t first() const { return first_; }
  std::size_t last() const { return last_; }
  int began() const { return began_; }

 private:
  static std::vector<std::optional<std::size_t>> kin(std::size_t arms) {
    std::vector<std::optional<std::size_t>> all;
    for (std::size_t i = 0; i < arms; ++i) all.emplace_back(i);
    return all;
  }

  /// As SolveState::progress() gives it.
  Progress now() const {
    Progress copy = progress_;
    copy.at_work = stack_.empty() ? std::nullopt : std::optional(stack_.back());
    return copy;
  }

  void leave() {
    Seen& seen = progress_.arms[stack_.back()];
    seen.is_built = seen.is_kept = false;
    stack_.pop_back();
  }

  void turn_to(std::size_t arm) {
    if (std::ranges::find(stack_, arm) != stack_.end()) {
      while (stack_.back() != arm) leave();
      return;
    }
    if (stack_.size() == deepest) return leave();
    if (!set_up(arm)) return;
    if (began_++ == 0) first_ = arm;
    stack_.push_back(arm);
    Seen& seen = progress_.arms[arm];
    seen.is_built = seen.is_kept = true;
    seen.iterations = seen.digits = seen.digits_halfway = 0;
  }

  bool set_up(std::size_t arm) {
    const Truth& truth = system_.arms[arm];
    Seen& seen = progress_.arms[arm];
    const double price = truth.set_up;
    if (trace_) fmt::print(stderr, "         its set-up: {:.0f} products\n", price);
    if (seen.is_complete && !(seen.set_up >= 0)) {
      progress_.products_spent += share_of_analysis * price;
      seen.set_up = price;
      if (is_clearly_later(forecast_.expected(now()), arm)) return false;
      progress_.products_spent += (1 - share_of_analysis) * price;
      return true;
    }
    const double most = most_products(forecast_.expected(now())[arm].set_up);
    if (!seen.is_complete && price > most) {
      progress_.products_spent += most;
      seen.set_up_at_least = std::max(seen.set_up_at_least, most);
      return false;
    }
    progress_.products_spent += price;
    seen.set_up = price;
    return true;
  }

  /// To the next look, or the end.
  void advance() {
    const std::size_t arm = stack_.back();
    const Truth& truth = system_.arms[arm];
    Seen& seen = progress_.arms[arm];
    const double end = std::min<double>(std::max(next_look(static_cast<int>(seen.iterations)), first_look),
                                        truth.record.iterations);
    progress_.products_spent += (end - seen.iterations) * truth.iteration;
    seen.iteration = truth.iteration;
    seen.iterations = end;
    seen.digits = truth.record.digits_after(end);
    seen.digits_halfway = truth.record.digits_after(end / 2);
    digits_reached_ = std::max(digits_reached_, seen.digits);
    if (end < truth.record.iterations) return;
    last_ = arm;
    is_solved_ = truth.solves;
    if (is_solved_) return;
    seen.may_run = false;
    leave();
  }

  const System& system_;
  Forecast forecast_;
  std::span<const std::string_view> names_;
  bool trace_;
  Progress progress_;
  double digits_reached_ = 0;
  CompleteFactors complete_;
  std::vector<std::size_t> stack_;  ///< suspended arms, and the one at work
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  int began_ = 0;
  bool is_solved_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const bool trace = argc == 4 && std::string_view(argv[3]) == "trace";
  if (argc != 3 && !trace) {
    std::fputs("usage: replay_policy MODEL SYSTEMS [trace]\n", stderr);
    return 2;
  }
  try {
    const Model model = read_model(argv[1]);
    const Records records(model.numbers, model.arms, model.families);
    std::ifstream file(argv[2]);
    const auto systems = read<std::size_t>(file);
    for (std::size_t i = 0; i < systems; ++i) {
      const System system = read_system(file, model.arms.size());
      Replay replay(records, system, trace);
      const double products = replay.run();
      fmt::print("{} {} {} {}\n", products, replay.first(), replay.last(), replay.began());
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
