#include "ayatori/tuning/product/product_tuner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "ayatori/tuning/memory/experience.hpp"

namespace ayatori::tuning {

namespace {

/// A format is taken without a trial if it moves so much less than compressed sparse rows, and is hopeless if
/// it moves so much more than the incumbent: products are as fast as their traffic to some 15 %.
constexpr double clearly_less = 0.85;
/// An access through an index occupies the memory system like the index itself once more.
constexpr double access_bytes = sizeof(std::int32_t);

constexpr double unsupported = -1;

/// What a product with every kernel is expected to move; unsupported where one rank's part cannot be held.
std::vector<double> kernel_traffics(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  const auto facts = sparse::pattern_facts(parts.interior);
  std::vector<double> values;
  for (const auto& type : sparse::kernels()) {
    const auto bytes = type.predicted_bytes(facts);
    values.push_back(bytes ? static_cast<double>(*bytes) + access_bytes * type.indexed_accesses(facts)
                           : std::numeric_limits<double>::infinity());
  }
  comm.allreduce(std::span<double>(values), comm::ReduceOp::sum);
  for (double& value : values) {
    if (value == std::numeric_limits<double>::infinity()) value = unsupported;
  }
  return values;
}

}  // namespace

void plan_kernels(const comm::Comm& comm, const sparse::SplitMatrix& parts, const Forced& forced,
                  ProductPlan& plan) {
  const auto types = sparse::kernels();
  const auto traffic = kernel_traffics(comm, parts);
  const auto traffic_of = [&](std::string_view name) {
    const auto place = std::ranges::find(types, name, &sparse::KernelType::name);
    return traffic[place - types.begin()];
  };
  std::vector<ProductCandidate> rivals;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name(types[i].name);
    if (name == "csr-reference") continue;  // what the others are measured against, not a rival
    if (forced.excludes(name)) {
      plan.excluded.push_back({"kernel", name, "excluded", "you excluded it"});
    } else if (traffic[i] == unsupported) {
      plan.excluded.push_back(
          {"kernel", name, "hopeless", "this matrix does not fit, or only at great waste"});
    } else {
      rivals.push_back({"kernel", name, traffic[i], 0, types[i].conversion_products});
    }
  }
  if (rivals.empty()) throw InputError("--exclude leaves no kernel");
  const auto is_cheap = [](const ProductCandidate& rival) { return rival.conversion <= laying_out; };
  std::ranges::stable_sort(rivals, {}, &ProductCandidate::traffic);
  std::ranges::stable_partition(rivals, is_cheap);  // the others would hold them up
  plan.csr_traffic = traffic_of("csr");
  const auto least = rivals.begin();
  const auto usual = std::ranges::find(rivals, "csr", &ProductCandidate::name);
  const bool least_is_clear = is_cheap(*least) && least->traffic < clearly_less * plan.csr_traffic;
  const auto first = least_is_clear || usual == rivals.end() ? least : usual;
  plan.first.kernel = first->name;
  plan.first_traffic = first->traffic;
  rivals.erase(first);
  plan.candidates.insert(plan.candidates.begin(), rivals.begin(), rivals.end());
  plan.products_before_planning = 0;
}

namespace {

/// Collective. Products that take far longer than the look at the largest part and the conversion of the
/// matrix: another format saves about a third of a product, and a solve that has lasted so long is expected
/// to last as long again. Where this many are to come anyway, those that take as long as the look:
/// right-hand sides that are solved in a few iterations need none. For a familiar matrix this many that look
/// and conversion are a share of them that tuning may take.
std::int64_t products_until_planning(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                     Products expected, double to_come) {
  const double look =
      comm.allreduce(sparse::products_of_pattern_facts(parts.interior.nonzeros()), comm::ReduceOp::max);
  const double price = look + laying_out;
  if (expected == Products::familiar) return static_cast<std::int64_t>(price / familiar_share);
  return static_cast<std::int64_t>(to_come > far_more * price ? std::ceil(look) : far_more * price);
}

void plan_halos(const comm::Comm& comm, const sparse::SplitMatrix& parts, const Forced& forced,
                ProductPlan& plan) {
  const auto types = sparse::halo_strategies();
  std::vector<double> traffic;  // bytes and messages of every strategy
  for (const auto& type : types) {
    const auto [messages, bytes] = type.traffic(parts.plan, parts.partition);
    traffic.insert(traffic.end(), {bytes, messages});
  }
  comm.allreduce(std::span<double>(traffic), comm::ReduceOp::max);
  std::vector<ProductCandidate> rivals;
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (const char* suffix : {"+overlap", ""}) {
      const std::string name = std::string(types[i].name) + suffix;
      if (forced.excludes(name) || forced.excludes(types[i].name)) {
        plan.excluded.push_back({"halo", name, "excluded", "you excluded it"});
      } else {
        rivals.push_back({"halo", name, traffic[2 * i], traffic[2 * i + 1]});
      }
    }
  }
  if (rivals.empty()) throw InputError("--exclude leaves no halo strategy");
  std::ranges::stable_sort(rivals, {}, &ProductCandidate::traffic);
  auto first = std::ranges::find(rivals, plan.first.halo, &ProductCandidate::name);
  if (first == rivals.end()) first = rivals.begin();
  plan.first.halo = first->name;
  rivals.erase(first);
  plan.candidates.insert(plan.candidates.end(), rivals.begin(), rivals.end());
}

/// Ranks whose products take time.
double active_ranks(const sparse::DistributedMatrix& matrix) {
  return std::max(matrix.partition().ranks_with_rows(), 1);
}

/// Mean bytes of the ranks, as stored. Collective.
double mean_bytes(const sparse::DistributedMatrix& matrix) {
  return static_cast<double>(matrix.comm().allreduce(matrix.matrix_bytes(), comm::ReduceOp::sum)) /
         active_ranks(matrix);
}

double median(const std::deque<double>& values) {
  return values.empty() ? 0 : spread(std::vector<double>(values.begin(), values.end())).median;
}

void remember(std::deque<double>& values, double value) {
  values.push_back(value);
  if (std::ssize(values) > Duel::runs) values.pop_front();
}

}  // namespace

ProductPlan plan_product(const comm::Comm& comm, const sparse::SplitMatrix& parts, const Forced& forced,
                         const machine::Profile* profile, Products expected, double to_come) {
  ProductPlan plan;
  if (profile != nullptr) plan.message_bound = network::message_bound(*profile);
  if (forced.kernel) {
    plan.first.kernel = *forced.kernel;
  } else if (expected != Products::planned && forced.excluded.empty()) {
    plan.products_before_planning = products_until_planning(comm, parts, expected, to_come);
  }
  if (plan.products_before_planning > 0) {
    plan.first.kernel = "csr";
  } else if (!forced.kernel) {
    plan_kernels(comm, parts, forced, plan);
  }
  if (forced.halo) {
    plan.first.halo = *forced.halo;
  } else if (comm.size() > 1 && comm.any(parts.plan.messages() > 0)) {
    plan_halos(comm, parts, forced, plan);
  }
  return plan;
}

bool take_next_kernel(ProductPlan& plan, std::string reason) {
  if (plan.products_before_planning > 0 && plan.first.kernel != "csr") {
    plan.first.kernel = "csr";
    return true;
  }
  const auto next = std::ranges::find(plan.candidates, "kernel", &ProductCandidate::item);
  if (next == plan.candidates.end()) return false;
  plan.excluded.push_back({"kernel", plan.first.kernel, "failed", std::move(reason)});
  plan.first.kernel = next->name;
  plan.first_traffic = next->traffic;
  plan.candidates.erase(next);
  return true;
}

ProductTuner::ProductTuner(sparse::DistributedMatrix& matrix, const solvers::GlobalSum& sum, Budget& budget,
                           std::function<double()> clock, ProductPlan plan, Decisions* decisions,
                           std::function<void(ProductPlan&)> look)
    : matrix_(matrix),
      sum_(sum),
      budget_(budget),
      clock_(std::move(clock)),
      plan_(std::move(plan)),
      incumbent_(matrix.options()),
      ranks_(active_ranks(matrix)),
      matrix_bytes_(mean_bytes(matrix)),
      incumbent_traffic_(plan_.first_traffic),
      decisions_(decisions),
      look_(std::move(look)) {
  if (decisions_ != nullptr && decisions_->replays()) {
    incumbent_ = decisions_->script().products[decisions_->script().last_product];
  } else if (decisions_ != nullptr) {
    decisions_->number_of(incumbent_);
  }
  matrix_.set_observer(this);
}

void ProductTuner::before_product() {
  before_ = matrix_.seconds();
  started_ = clock_();
}

/// The product from now on, also in the script.
void ProductTuner::use(const sparse::ProductOptions& options) {
  const sparse::ProductOptions before = matrix_.options();
  matrix_.use(options);
  if (decisions_ != nullptr && options != before)
    decisions_->note(Decision::Kind::product, -1, count_, decisions_->number_of(options));
}

void ProductTuner::replay() {
  while (const auto product = decisions_->next(Decision::Kind::product, -1, count_)) {
    matrix_.use(decisions_->script().products[*product]);
    if (matrix_.options() == incumbent_) matrix_.forget_unused();
  }
}

void ProductTuner::skip_to(std::int64_t count, std::optional<std::int64_t> product) {
  count_ = count;
  if (product) matrix_.use(decisions_->script().products[*product]);
}

void ProductTuner::after_product() {
  ++count_;
  if (decisions_ != nullptr && decisions_->replays()) return replay();
  const double seconds = clock_() - started_;
  const double total = matrix_.seconds().total - before_.total;
  const double halo = matrix_.seconds().halo - before_.halo;
  sum_.carry(seconds);
  sum_.carry(total > 0 ? seconds * halo / total : 0);
  parcels_.push_back({duel_ ? Parcel::Kind::duel : Parcel::Kind::product, duels_});
  receive();
  if (!duel_ && plan_.products_before_planning > 0) {
    const std::string& first = plan_.kernel_before_planning;
    if (!first.empty() && static_cast<double>(count_) >= sparse::kernel(first).conversion_products)
      take({"kernel", std::exchange(plan_.kernel_before_planning, {}), plan_.csr_traffic});
    if (count_ >= plan_.products_before_planning) look();
  }
  decide();
}

/// Goes on with another kernel, without a trial. If it cannot be built, all stays as it is.
void ProductTuner::take(const ProductCandidate& candidate) {
  const double start = clock_();
  sparse::ProductOptions next = incumbent_;
  next.kernel = candidate.name;
  try {
    use(next);
    if (incumbent_.kernel == "csr") csr_seconds_ = product_seconds();
    incumbent_ = next;
    incumbent_traffic_ = candidate.traffic;
    matrix_bytes_ = mean_bytes(matrix_);
    recent_.clear();
    matrix_.forget_unused();
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    note(candidate, "failed", error.what());
  }
  building_seconds_ += clock_() - start;
}

/// Plans the kernels, now that the products so far have earned it, and takes the first: but one of blocks, if
/// it is in use, only gives way to what is measured to be faster.
void ProductTuner::look() {
  const double start = clock_();
  plan_.candidates.erase(plan_.candidates.begin(),
                         plan_.candidates.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  look_(plan_);
  building_seconds_ += clock_() - start;
  const double conversion = sparse::kernel(plan_.first.kernel).conversion_products;
  const ProductCandidate first{"kernel", plan_.first.kernel, plan_.first_traffic, 0, conversion};
  incumbent_traffic_ = plan_.csr_traffic;
  if (incumbent_.kernel == first.name) {
    incumbent_traffic_ = first.traffic;
  } else if (incumbent_.kernel == "csr") {
    take(first);
  } else {
    const auto in_use = std::ranges::find(plan_.candidates, incumbent_.kernel, &ProductCandidate::name);
    if (in_use != plan_.candidates.end()) {
      incumbent_traffic_ = in_use->traffic;
      plan_.candidates.erase(in_use);
    }
    plan_.candidates.insert(plan_.candidates.begin(), first);
  }
}

void ProductTuner::receive() {
  const auto values = sum_.take_carried();
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const Parcel parcel = parcels_.front();
    parcels_.pop_front();
    const double seconds = values[i] / ranks_;
    if (parcel.kind == Parcel::Kind::building) {
      budget_.spend(seconds);
    } else if (parcel.kind == Parcel::Kind::product) {
      remember(recent_, seconds);
      remember(recent_halo_, values[i + 1] / ranks_);
    } else if (duel_ && parcel.duel == duels_) {
      duel_->record(seconds);
    }
  }
}

void ProductTuner::decide() {
  if (duel_ && duel_->verdict() != Duel::Verdict::undecided) conclude();
  if (!duel_) start_next_duel();
  if (duel_) use(duel_->next() ? challenging_ : incumbent_);
}

void ProductTuner::conclude() {
  const bool wins = duel_->verdict() == Duel::Verdict::challenger;
  const double ratio = duel_->challenger_seconds() / duel_->incumbent_seconds();
  const bool is_timed = duel_->challenger_seconds() > 0 && duel_->incumbent_seconds() > 0;
  budget_.spend(duel_->excess());
  excess_seconds_ += duel_->excess();
  const std::string& rival = challenger_.item == "kernel" ? incumbent_.kernel : incumbent_.halo;
  note(challenger_, wins ? "faster" : "slower",
       is_timed
           ? fmt::format("{:.3g} us a product against {:.3g} of {}, {:.2f} times",
                         1e6 * duel_->challenger_seconds(), 1e6 * duel_->incumbent_seconds(), rival, ratio)
           : fmt::format("products are too short for the clock to tell it from {}", rival));
  verdicts_.back().measured = duel_->challenger_seconds();
  if (wins) {
    if (incumbent_.kernel == "csr") csr_seconds_ = duel_->incumbent_seconds();
    incumbent_ = challenging_;
    if (challenger_.item == "kernel") incumbent_traffic_ = challenger_.traffic;
    recent_.assign(1, duel_->challenger_seconds());
  }
  use(incumbent_);
  matrix_.forget_unused();
  duel_.reset();
}

/// Candidates are looked at in turn; those that the budget does not allow yet wait, and so do all after them.
void ProductTuner::start_next_duel() {
  // What the facts speak for comes first.
  if (std::ssize(recent_) < Duel::runs || !plan_.kernel_before_planning.empty()) return;
  while (next_ < plan_.candidates.size()) {
    const ProductCandidate& candidate = plan_.candidates[next_];
    if (const auto reason = hopelessness(candidate)) {
      note(candidate, "hopeless", *reason);
    } else {
      if (!is_affordable(candidate)) return;
      if (challenge(candidate)) {
        ++next_;
        return;
      }
    }
    ++next_;
  }
}

/// Whether the budget allows the seconds that a lost duel is expected to cost. A kernel that moves clearly
/// less is expected to win.
bool ProductTuner::is_affordable(const ProductCandidate& candidate) const {
  const double time = sum_.agreed_seconds() - budget_.spent();
  const double duel = Duel::runs * product_seconds();
  if (candidate.item != "kernel") return budget_.allows(duel, time);
  const double product_of_csr = product_seconds() / share_of_csr();
  const double price = duel + candidate.conversion * product_of_csr;
  if (candidate.traffic < clearly_less * incumbent_traffic_) return budget_.allows_expected(price, time);
  return budget_.allows(price, time);
}

/// Builds the challenger. False if it cannot be.
bool ProductTuner::challenge(const ProductCandidate& candidate) {
  challenging_ = incumbent_;
  (candidate.item == "kernel" ? challenging_.kernel : challenging_.halo) = candidate.name;
  const double start = clock_();
  bool built = true;
  try {
    use(challenging_);
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    note(candidate, "failed", error.what());
    built = false;
  }
  const double seconds = clock_() - start;
  building_seconds_ += seconds;
  sum_.carry(seconds);
  sum_.carry(0);
  parcels_.push_back({Parcel::Kind::building, 0});
  if (!built) return false;
  challenger_ = candidate;
  ++duels_;
  duel_.emplace(product_seconds());
  return true;
}

double ProductTuner::product_seconds() const {
  return median(recent_);
}

/// x read and y written, once each.
double ProductTuner::vector_traffic() const {
  return 16.0 * static_cast<double>(matrix_.global_rows());
}

double ProductTuner::predicted_seconds(const ProductCandidate& candidate) const {
  if (candidate.item != "kernel") return 0;
  return product_seconds() * (candidate.traffic + vector_traffic()) / (incumbent_traffic_ + vector_traffic());
}

double ProductTuner::share_of_csr() const {
  if (incumbent_.kernel != "csr" && csr_seconds_ > 0 && product_seconds() > 0)
    return product_seconds() / csr_seconds_;
  if (!(plan_.csr_traffic > 0)) return 1;
  return (incumbent_traffic_ + vector_traffic()) / (plan_.csr_traffic + vector_traffic());
}

/// A kernel that moves clearly more than the incumbent, or a strategy that would take longer than the
/// incumbent's whole exchange even at the rate at which this product reads memory, or with the fastest
/// messages that the machine has shown.
std::optional<std::string> ProductTuner::hopelessness(const ProductCandidate& candidate) const {
  if (candidate.item == "kernel") {
    if (clearly_less * candidate.traffic <= incumbent_traffic_) return std::nullopt;
    return fmt::format("{:.2f} times as many bytes to move as with {}",
                       candidate.traffic / incumbent_traffic_, incumbent_.kernel);
  }
  const double rate = matrix_bytes_ / product_seconds();
  if (!(rate > 0)) return std::nullopt;
  const double by_memory = candidate.traffic / rate;
  const double by_messages = plan_.message_bound.seconds(candidate.messages, candidate.traffic);
  const double optimistic = std::max(by_memory, by_messages);
  const bool hidden = candidate.name.ends_with("+overlap");
  const double limit = hidden ? product_seconds() : median(recent_halo_);
  if (optimistic <= limit) return std::nullopt;
  return fmt::format(
      "moving {:.3g} bytes takes {:.3g} us even {}; {} takes {:.3g} us", candidate.traffic, 1e6 * optimistic,
      by_memory >= by_messages ? "at the speed of memory" : "with this machine's fastest messages",
      hidden ? "a whole product" : "the exchange in use", 1e6 * limit);
}

void ProductTuner::note(const ProductCandidate& candidate, std::string verdict, std::string reason) {
  verdicts_.push_back({candidate.item, candidate.name, std::move(verdict), std::move(reason),
                       predicted_seconds(candidate), 0});
}

std::vector<CandidateVerdict> ProductTuner::candidate_verdicts() const {
  std::vector<CandidateVerdict> list = verdicts_;
  for (std::size_t i = next_; i < plan_.candidates.size(); ++i) {
    const auto& candidate = plan_.candidates[i];
    list.push_back({candidate.item, candidate.name, "not tried",
                    "the solve ended before the budget allowed a trial", predicted_seconds(candidate), 0});
  }
  for (const auto& type : sparse::kernels()) {
    if (plan_.products_before_planning == 0 || type.name == incumbent_.kernel || type.name == "csr-reference")
      continue;
    list.push_back({"kernel", std::string(type.name), "not tried",
                    "so few products are not worth a look at the pattern", 0, 0});
  }
  list.insert(list.end(), plan_.excluded.begin(), plan_.excluded.end());
  return list;
}

}  // namespace ayatori::tuning
