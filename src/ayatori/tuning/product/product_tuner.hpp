#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/network/message_cost.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/memory/script.hpp"
#include "ayatori/tuning/policy/choice.hpp"
#include "ayatori/tuning/product/budget.hpp"
#include "ayatori/tuning/product/candidate_verdict.hpp"
#include "ayatori/tuning/product/duel.hpp"

namespace ayatori::tuning {

/// A kernel or a halo strategy that could be used, and what is known of it before it is tried.
struct ProductCandidate {
  std::string item;  ///< "kernel" or "halo"
  std::string name;
  /// What a product moves, in bytes. Kernel: the matrix as stored, and four for every access through an
  /// index, over all ranks; halo: what the busiest rank sends or receives.
  double traffic;
  double messages = 0;    ///< messages of the busiest rank in an exchange
  double conversion = 0;  ///< products that building the kernel takes
};

/// What the product may be made of: candidates by descending promise, and what to begin with.
struct ProductPlan {
  sparse::ProductOptions first;
  std::vector<ProductCandidate> candidates;
  std::vector<CandidateVerdict> excluded;     ///< what no trial is needed for, and why
  double first_traffic = 0;                   ///< traffic of the first kernel, where it has rivals
  double csr_traffic = 0;                     ///< traffic of compressed sparse rows, where there are rivals
  network::MessageCost message_bound;         ///< as measured on this machine, if it was
  std::int64_t products_before_planning = 0;  ///< products before the kernels are planned; 0: they are
  std::string
      kernel_before_planning;  ///< a kernel to change to as soon as products have earned its conversion,
                               ///< because the facts of the matrix speak for it; empty: none
};

/// What is expected of a solve, by which its kernel is chosen now or later.
enum class Products {
  counted,   ///< those to come may tell
  familiar,  ///< an earlier solve of the same matrix has chosen
  planned,   ///< nothing may wait
};

/// Collective. Predicts from the pattern which kernels can hold the matrix and what they read, and from the
/// halo plan what the strategies move. What is forced has no rivals. `profile`: the machine's, or nullptr.
/// The look at the pattern may have to wait, as it and the conversion take longer than many products.
/// `to_come`: products that are expected; 0 where nothing is known of them, or most of the time goes
/// elsewhere.
ProductPlan plan_product(const comm::Comm& comm, const sparse::SplitMatrix& parts, const Forced& forced,
                         const machine::Profile* profile, Products expected = Products::planned,
                         double to_come = 0);

/// Collective. Adds the kernels to a plan that has waited.
void plan_kernels(const comm::Comm& comm, const sparse::SplitMatrix& parts, const Forced& forced,
                  ProductPlan& plan);

/// Begins with the next best kernel, because the first cannot be built for this reason. False if there is
/// none.
bool take_next_kernel(ProductPlan& plan, std::string reason);

/// Chooses kernel and halo strategy while the matrix is being multiplied (Katagiri & Kuroda, items iv and v):
/// one challenger at a time duels with the incumbent inside the products that the solver makes anyway. A
/// challenger is built only when the budget allows its price, and not at all if even its optimistic time is
/// worse. The ranks' times ride in the solver's reductions, so all ranks decide the same.
class ProductTuner final : public sparse::ProductObserver {
 public:
  /// Collective. `matrix` has been built with plan.first, and outlives the tuner, which becomes its observer.
  /// `clock` gives seconds. `decisions`, if any, are recorded or replayed, and outlive the tuner too. `look`
  /// completes a plan whose kernels have waited: collective.
  ProductTuner(sparse::DistributedMatrix& matrix, const solvers::GlobalSum& sum, Budget& budget,
               std::function<double()> clock, ProductPlan plan, Decisions* decisions = nullptr,
               std::function<void(ProductPlan&)> look = nullptr);
  ~ProductTuner() override { matrix_.set_observer(nullptr); }
  ProductTuner(const ProductTuner&) = delete;
  ProductTuner& operator=(const ProductTuner&) = delete;

  void before_product() override;
  void after_product() override;

  /// Products so far, by which decisions are dated.
  std::int64_t count() const { return count_; }
  /// Replaying: as many products as if a set-up had been made that was given up after this many in all, with
  /// this product in use then, if it changed.
  void skip_to(std::int64_t count, std::optional<std::int64_t> product);

  /// How many more there will be before the kernels are planned; 0: they are.
  std::int64_t products_until_planning() const {
    return plan_.products_before_planning == 0
               ? 0
               : std::max<std::int64_t>(plan_.products_before_planning - count_, 1);
  }

  /// The best so far.
  const sparse::ProductOptions& incumbent() const { return incumbent_; }
  /// Mean seconds of the incumbent's product, on which the ranks agree; 0 if not known yet.
  double product_seconds() const;
  /// What a product with the incumbent takes of one with compressed sparse rows: as measured, or as predicted
  /// where that is not known; 1 if nothing is.
  double share_of_csr() const;
  /// Seconds that this rank has spent on building challengers.
  double building_seconds() const { return building_seconds_; }
  /// What products of losing challengers took longer than the incumbent's would have: agreed.
  double excess_seconds() const { return excess_seconds_; }
  /// Everything considered, with its verdict so far.
  std::vector<CandidateVerdict> candidate_verdicts() const;

 private:
  /// A time under way in a reduction, and what to do with it.
  struct Parcel {
    enum class Kind { product, duel, building } kind;
    int duel;  ///< number of the duel that it belongs to
  };

  void use(const sparse::ProductOptions& options);
  void replay();
  void look();
  void take(const ProductCandidate& candidate);
  void receive();
  void decide();
  void conclude();
  void start_next_duel();
  bool challenge(const ProductCandidate& candidate);
  std::optional<std::string> hopelessness(const ProductCandidate& candidate) const;
  bool is_affordable(const ProductCandidate& candidate) const;
  double vector_traffic() const;
  double predicted_seconds(const ProductCandidate& candidate) const;
  void note(const ProductCandidate& candidate, std::string verdict, std::string reason);

  sparse::DistributedMatrix& matrix_;
  const solvers::GlobalSum& sum_;
  Budget& budget_;
  std::function<double()> clock_;
  ProductPlan plan_;
  sparse::ProductOptions incumbent_;
  double ranks_;              ///< that hold rows
  double matrix_bytes_;       ///< mean of these, with the first kernel planned
  double incumbent_traffic_;  ///< traffic of the incumbent's kernel
  std::size_t next_ = 0;      ///< candidates before this one have had their chance
  std::optional<Duel> duel_;
  ProductCandidate challenger_;
  sparse::ProductOptions challenging_;
  int duels_ = 0;
  Decisions* decisions_;
  std::function<void(ProductPlan&)> look_;
  std::int64_t count_ = 0;
  std::deque<Parcel> parcels_;
  std::deque<double> recent_;       ///< seconds of the incumbent's last products
  std::deque<double> recent_halo_;  ///< seconds of the exchange in these
  double started_ = 0;
  sparse::ProductSeconds before_;
  double building_seconds_ = 0;
  double excess_seconds_ = 0;
  double csr_seconds_ = 0;  ///< time of a product with compressed sparse rows, when they were the incumbent
  std::vector<CandidateVerdict> verdicts_;
};

}  // namespace ayatori::tuning
