#include "ayatori/tuning/product/duel.hpp"

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/tuning/judgement.hpp"

namespace ayatori::tuning {

namespace {

/// Whether run number `i` is the challenger's: C, then C I I C for ever.
bool is_challengers(int i) {
  return i == 0 || (i - 1) % 4 == 0 || (i - 1) % 4 == 3;
}

}  // namespace

bool Duel::next() {
  return is_challengers(started_++);
}

void Duel::record(double seconds) {
  AYATORI_ASSERT(recorded_ < started_);
  const int run = recorded_++;
  if (verdict_ != Verdict::undecided) return;
  if (run == 0) {
    first_ = seconds;
  } else {
    (is_challengers(run) ? challengers_ : incumbents_).push_back(seconds);
  }
  judge();
}

void Duel::judge() {
  // Cold caches explain that the first run takes far longer, but not by as much again.
  if (challengers_.empty() && first_ > far_more * far_more * usual_) verdict_ = Verdict::incumbent;
  if (challengers_.size() >= 2 && !incumbents_.empty()) {
    const double fastest = *std::ranges::min_element(challengers_);
    if (clearly_faster * fastest > spread(incumbents_).median) verdict_ = Verdict::incumbent;
  }
  if (std::ssize(challengers_) >= runs && std::ssize(incumbents_) >= runs) {
    const bool wins = spread(challengers_).median < clearly_faster * spread(incumbents_).median;
    verdict_ = wins ? Verdict::challenger : Verdict::incumbent;
  }
  incumbent_ = incumbents_.empty() ? usual_ : spread(incumbents_).median;
  challenger_ = challengers_.empty() ? first_ : spread(challengers_).median;
}

double Duel::excess() const {
  double sum = recorded_ > 0 ? first_ - incumbent_ : 0;
  for (const double seconds : challengers_) sum += seconds - incumbent_;
  return std::max(sum, 0.0);
}

}  // namespace ayatori::tuning
