#include "ayatori/tuning/memory/experience.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/solvers/method.hpp"
#include "ayatori/tuning/product/product_tuner.hpp"

namespace ayatori::tuning {

namespace {

/// Whether what the user insists on allows this choice.
bool allows(const Forced& forced, const Choice& choice) {
  if (is_least_squares(choice)) return false;  // an end of its own, not a beginning
  const auto& method = solvers::method(choice.method);
  if (forced.excludes(choice.method) || forced.excludes(choice.preconditioner)) return false;
  if (forced.method && *forced.method != choice.method) return false;
  if (forced.preconditioner && *forced.preconditioner != choice.preconditioner) return false;
  return method.restarts || !(forced.restart || forced.orthogonalization);
}

/// The best as an arm: of what is forced, and of the listed one that had these numerics, if any.
ListedArm recommended_arm(const Experience& experience, const ListedArm* known, const Forced& forced,
                          int longest_restart) {
  Choice choice = *experience.best;
  choice.kernel = forced.kernel.value_or("");
  choice.halo = forced.halo.value_or("");
  choice.device.clear();  // whether there is one now, and what it costs, is asked anew
  if (choice.restart > 0) {
    choice.restart = forced.restart.value_or(std::min(choice.restart, longest_restart));
    if (forced.orthogonalization) choice.orthogonalization = *forced.orthogonalization;
    if (forced.excludes(choice.orthogonalization) && known != nullptr)
      choice.orthogonalization = known->choice.orthogonalization;
  }
  return {std::move(choice), experience.why, false, known != nullptr ? known->kin : std::nullopt};
}

/// Begins with `name`, if it is a candidate.
void begin_with(ProductPlan& plan, const std::string& item, const std::string& name) {
  std::string& first = item == "kernel" ? plan.first.kernel : plan.first.halo;
  if (name == first) return;
  const auto place = std::ranges::find_if(plan.candidates, [&](const ProductCandidate& candidate) {
    return candidate.item == item && candidate.name == name;
  });
  if (place == plan.candidates.end()) return;
  plan.excluded.push_back({item, first, "not tried", name + " was chosen in an earlier solve"});
  first = name;
  if (item == "kernel") plan.first_traffic = place->traffic;
  plan.candidates.erase(place);
}

}  // namespace

bool same_numerics(const Choice& a, const Choice& b) {
  return a.method == b.method && a.preconditioner == b.preconditioner;
}

std::vector<ListedArm> apply(const Experience& experience, std::vector<ListedArm> arms, const Forced& forced,
                             int longest_restart) {
  const auto failure_of = [&](const ListedArm& arm) {
    return std::ranges::find_if(experience.failed, [&](const Experience::Failure& failure) {
      return same_numerics(failure.choice, arm.choice);
    });
  };
  const auto never_failed = [&](const ListedArm& arm) { return failure_of(arm) == experience.failed.end(); };
  const auto failed = std::ranges::stable_partition(arms, never_failed);
  for (ListedArm& arm : failed) {
    arm.last_resort = true;
    arm.why += "; it failed before: " + failure_of(arm)->why;
  }
  if (!experience.best || !allows(forced, *experience.best)) return arms;
  const auto known = std::ranges::find_if(
      arms, [&](const ListedArm& arm) { return same_numerics(arm.choice, *experience.best); });
  ListedArm first =
      recommended_arm(experience, known == arms.end() ? nullptr : &*known, forced, longest_restart);
  if (known != arms.end()) arms.erase(known);
  arms.insert(arms.begin(), std::move(first));
  return arms;
}

void apply(const Experience& experience, ProductPlan& plan) {
  if (experience.best) {
    const bool has_kernel = !experience.best->kernel.empty();
    if (has_kernel &&
        plan.products_before_planning > 0) {  // the matrix is familiar: its kernel needs no candidates
      plan.first.kernel = experience.best->kernel;
    } else {
      begin_with(plan, "kernel", experience.best->kernel);
    }
    begin_with(plan, "halo", experience.best->halo);
  }
  std::erase_if(plan.candidates, [&](const ProductCandidate& candidate) {
    if (std::ranges::find(experience.lost, candidate.name) == experience.lost.end()) return false;
    plan.excluded.push_back({candidate.item, candidate.name, "not tried", "slower in an earlier solve"});
    return true;
  });
}

}  // namespace ayatori::tuning
