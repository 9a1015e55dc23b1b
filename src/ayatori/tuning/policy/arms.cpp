#include "ayatori/tuning/policy/arms.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/device/device_method.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/model/forecast.hpp"
#include "ayatori/tuning/policy/policy.hpp"

namespace ayatori::tuning {

namespace {

/// "gmres(100) + ilut"
Choice choice_of(std::string_view name) {
  Choice choice{.restart = 0};
  const auto plus = name.find(" + ");
  std::string_view method = name.substr(0, plus);
  choice.preconditioner = name.substr(plus + 3);
  if (const auto open = method.find('('); open != std::string_view::npos) {
    std::from_chars(method.data() + open + 1, method.data() + method.size(), choice.restart);
    method = method.substr(0, open);
  }
  choice.method = method;
  return choice;
}

/// Libraries that this build does without have some.
bool exists(std::string_view preconditioner) {
  return std::ranges::any_of(solvers::preconditioners(),
                             [&](const auto& type) { return type.name == preconditioner; });
}

/// Whether the numerics suit the matrix, as far as its facts tell. Where CG may be used, methods for any
/// matrix need as many products with the same preconditioner, and more memory traffic.
bool applies(const Choice& choice, const MatrixFacts& facts) {
  const auto& method = solvers::method(choice.method);
  const auto& preconditioner = solvers::preconditioner(choice.preconditioner);
  if (preconditioner.for_saddle_points && !facts.may_have_constraints()) return false;
  const bool is_for_cg = !uses_complete_factors(choice) && preconditioner.symmetric;
  if (facts.looks_definite() && is_for_cg && !method.needs_symmetric) return false;
  if (method.needs_symmetric && !facts.symmetric) return false;
  if (method.needs_complex_symmetric && !facts.complex_symmetric) return false;
  // Real coefficients take up to twice the iterations of complex ones.
  if (facts.is_complex() && !method.takes_complex) return false;
  if (method.needs_definite && !facts.looks_definite()) return false;
  return !method.needs_symmetric_preconditioner || preconditioner.symmetric;
}

/// Complex bases have one orthogonalization.
Choice lay_over(Choice choice, const Forced& forced, bool is_complex) {
  choice.kernel = forced.kernel.value_or("");
  choice.halo = forced.halo.value_or("");
  if (forced.method) choice.method = *forced.method;
  if (forced.preconditioner) choice.preconditioner = *forced.preconditioner;
  if (!solvers::method(choice.method).restarts) {
    choice.restart = 0;
    choice.orthogonalization.clear();
    return choice;
  }
  choice.restart = forced.restart.value_or(choice.restart > 0 ? choice.restart : usual_restart);
  if (choice.orthogonalization.empty()) choice.orthogonalization = "cgs";
  const auto built_in = is_complex ? "ircgs" : solvers::method(choice.method).only_orthogonalization;
  if (!built_in.empty()) choice.orthogonalization = built_in;
  if (forced.orthogonalization) choice.orthogonalization = *forced.orthogonalization;
  for (const auto& other : solvers::orthogonalizations()) {
    if (!forced.excludes(choice.orthogonalization)) break;
    choice.orthogonalization = other.name;
  }
  return choice;
}

/// Gathers arms, each once, if nothing that is forced or excluded speaks against it.
class List {
 public:
  List(const MatrixFacts& facts, const Forced& forced, int longest_restart, const Records& records)
      : facts_(facts), forced_(forced), longest_restart_(longest_restart) {
    for (const std::string_view name : records.arms()) recorded_.push_back(choice_of(name));
  }

  /// What the records know, in their order.
  void add_recorded() {
    for (std::size_t i = 0; i < recorded_.size(); ++i) add(recorded_[i], "", i);
  }

  void add(const Choice& suggested, std::string why, std::optional<std::size_t> kin,
           bool last_resort = false) {
    if (!exists(suggested.preconditioner)) return;
    Choice choice = lay_over(suggested, forced_, facts_.complex_form);
    // A restart length or an orthogonalization can only be obeyed by a method that has them.
    const bool wants_basis = !forced_.method && (forced_.restart || forced_.orthogonalization);
    if (wants_basis && !solvers::method(choice.method).restarts) return;
    if (!forced_.method && kin && !applies(choice, facts_)) return;
    // Complete factors are as symmetric as the matrix.
    const bool is_symmetric =
        uses_complete_factors(choice) || solvers::preconditioner(choice.preconditioner).symmetric;
    if (!forced_.preconditioner && !is_symmetric && solvers::method(choice.method).needs_symmetric) return;
    if (!forced_.restart && choice.restart > longest_restart_) choice.restart = longest_restart_;
    if (forced_.excludes(choice.method) || forced_.excludes(choice.preconditioner) ||
        forced_.excludes(choice.orthogonalization))
      return;
    const auto same = std::ranges::find_if(arms_, [&](const ListedArm& arm) {
      return last_resort ? arm.choice == choice : is_same(arm.choice, choice);
    });
    if (same != arms_.end()) return;
    if (const auto own = record_of(choice)) kin = own;
    if (choice.method != suggested.method || choice.preconditioner != suggested.preconditioner)
      why = "what you forced, and the next of what is left open";
    arms_.push_back({std::move(choice), std::move(why), last_resort, kin});
  }

  std::vector<ListedArm> arms() && { return std::move(arms_); }

 private:
  static bool is_same(const Choice& a, const Choice& b) {
    return a.method == b.method && a.preconditioner == b.preconditioner && a.restart == b.restart;
  }

  /// The arm of the records with these numerics.
  std::optional<std::size_t> record_of(const Choice& choice) const {
    const auto place = std::ranges::find_if(recorded_, [&](const Choice& known) {
      return known.method == choice.method && known.preconditioner == choice.preconditioner;
    });
    if (place == recorded_.end()) return std::nullopt;
    return static_cast<std::size_t>(place - recorded_.begin());
  }

  const MatrixFacts& facts_;
  const Forced& forced_;
  int longest_restart_;
  std::vector<Choice> recorded_;
  std::vector<ListedArm> arms_;
};

/// What is there when all that records know has failed, plainer and longer ones last.
void add_last_resorts(List& list, int longest_restart) {
  const auto add = [&](std::string preconditioner, int restart, const char* orthogonalization,
                       const char* why, bool last) {
    list.add({.method = "gmres",
              .preconditioner = std::move(preconditioner),
              .restart = restart,
              .orthogonalization = orthogonalization},
             why, {}, last);
  };
  add("block-jacobi", usual_restart, "cgs", "cheap blocks, in case the factors are useless", false);
  add("none", usual_restart, "cgs", "nothing that could do harm", false);
  add("block-ilu0", longest_restart, "ircgs",
      "the longest basis that matrix and memory allow, kept orthogonal", true);
  add("jacobi", longest_restart, "ircgs", "the longest basis, with the plainest preconditioner", true);
  add("none", longest_restart, "ircgs", "the longest basis, with nothing that could do harm", true);
}

/// What comes first, by the policy, then what is expected to end sooner; what nothing is known of keeps its
/// place behind.
void put_in_order(std::vector<ListedArm>& arms, const MatrixFacts& facts, double rtol,
                  const Records& records) {
  const Progress nothing_yet{
      .digits_wanted = digits_of(rtol), .at_work = {}, .arms = std::vector<Seen>(arms.size())};
  const Outlook outlook = Forecast(records, facts, kin_of(arms)).expected(nothing_yet);
  const auto first = next_action(outlook, nothing_yet, {});
  for (std::size_t i = 0; i < arms.size(); ++i) {
    arms[i].expected = first && first->arm == i ? 0 : outlook[i].mean;
    if (arms[i].why.empty()) arms[i].why = first && first->arm == i ? first->why : describe(outlook, i);
  }
  std::ranges::stable_sort(arms, [](const ListedArm& a, const ListedArm& b) {
    return a.last_resort != b.last_resort ? b.last_resort : a.expected < b.expected;
  });
  if (first) arms.front().expected = outlook[first->arm].mean;
}

}  // namespace

double digits_of(double rtol) {
  return -std::log10(rtol);
}

std::vector<ListedArm> with_device(std::vector<ListedArm> arms, std::string_view device, bool alone,
                                   int ranks) {
  std::vector<ListedArm> there;
  for (const ListedArm& arm : arms) {
    const auto* preconditioner = solvers::find_device_preconditioner(arm.choice.preconditioner);
    if (preconditioner == nullptr || solvers::find_device_method(arm.choice.method) == nullptr) continue;
    if (ranks > 1 && !preconditioner->on_several_ranks) continue;
    // An arm of which nothing is known has no known price there.
    if (!alone && (arm.last_resort || !arm.kin)) continue;
    there.push_back(arm);
    there.back().choice.device = device;
  }
  if (!alone) {
    std::ranges::move(there, std::back_inserter(arms));
    return arms;
  }
  if (there.empty())
    throw InputError(
        fmt::format("--device {}: of what is left to choose, no method with its preconditioner "
                    "runs there on {} rank{}: methods {}; preconditioners {}",
                    device, ranks, ranks == 1 ? "" : "s", names_of(solvers::device_methods()),
                    names_of(solvers::device_preconditioners())));
  return there;
}

std::vector<std::optional<std::size_t>> kin_of(std::span<const ListedArm> arms) {
  std::vector<std::optional<std::size_t>> kin;
  for (const ListedArm& arm : arms) kin.push_back(arm.last_resort ? std::nullopt : arm.kin);
  return kin;
}

std::vector<ListedArm> list_arms(const MatrixFacts& facts, const Forced& forced, int longest_restart,
                                 double rtol, const Records& records) {
  if (forced.method == solvers::least_squares_name) return {{least_squares_choice(), "what you forced"}};
  List list(facts, forced, longest_restart, records);
  list.add_recorded();
  add_last_resorts(list, longest_restart);
  std::vector<ListedArm> arms = std::move(list).arms();
  if (arms.empty()) throw InputError("--exclude leaves nothing to solve with");
  put_in_order(arms, facts, rtol, records);
  return arms;
}

}  // namespace ayatori::tuning
