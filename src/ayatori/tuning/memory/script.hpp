#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/policy/arms.hpp"

namespace ayatori::tuning {

/// A decision that times have led to, and the place in the solve where it was taken. All else in a solve is a
/// function of the system, the options, and the numbers of ranks and threads.
struct Decision {
  enum class Kind {
    arm,        ///< the next one to run: `value` in Script::arms, or -1
    challenge,  ///< by arm `value`, after iteration `at` of trial `trial`
    behind,     ///< trial `trial` gave up after iteration `at`
    given_up,   ///< the set-up of trial `trial` took too long; `at` products had been made then
    restart,    ///< length `value` after iteration `at` of trial `trial`
    product,    ///< kernel and halo strategy number `value` of Script::products after `at` products
  };
  Kind kind;
  int trial = -1;
  std::int64_t at = 0;
  std::int64_t value = 0;

  bool operator==(const Decision&) const = default;
};

/// What a solve has decided, in the order of time.
struct Script {
  int ranks = 0;  ///< that held rows: 1, or 0 for all
  int longest_restart = 0;
  std::int64_t max_iterations = 0;
  bool keeps_orthogonalization = false;                ///< also where orthogonality is lost
  solvers::PreconditionerOptions preconditioner = {};  ///< what a user can set of them
  bool is_reproducible = true;                         ///< all that was used gives the same bits every time
  std::vector<ListedArm> arms;
  std::vector<sparse::ProductOptions> products;  ///< the first is what the solve began with
  int last_product = 0;                          ///< number of the one chosen in the end
  std::vector<Decision> decisions;
};

/// Writes a script while a solve decides, or has it decide as the script says.
class Decisions {
 public:
  /// Records.
  Decisions() = default;
  /// Replays.
  explicit Decisions(Script script) : script_(std::move(script)), replays_(true) {}

  bool replays() const { return replays_; }

  /// What `decide` gives, now or when the script was written; nothing is the usual answer, and not recorded.
  template <class Decide>
  std::optional<std::int64_t> ask(Decision::Kind kind, int trial, std::int64_t at, Decide&& decide) {
    if (replays_) return next(kind, trial, at);
    const std::optional<std::int64_t> value = decide();
    if (value) note(kind, trial, at, *value);
    return value;
  }
  void note(Decision::Kind kind, int trial, std::int64_t at, std::int64_t value) {
    script_.decisions.push_back({kind, trial, at, value});
  }

  /// The value of the next decision, if it is this one; then it is done with.
  std::optional<std::int64_t> next(Decision::Kind kind, int trial, std::int64_t at);
  /// Whether the set-up that begins now was given up; what happened during it is passed over. Gives the
  /// products made until then, and leaves the number of the product in use after it in `product`.
  std::optional<std::int64_t> next_given_up(int trial, std::optional<std::int64_t>& product);

  /// The number of this kernel and halo strategy in the script.
  std::int64_t number_of(const sparse::ProductOptions& options);

  Script& script() { return script_; }
  const Script& script() const { return script_; }

 private:
  Script script_;
  bool replays_ = false;
  std::size_t place_ = 0;  ///< place of the next decision
};

nlohmann::ordered_json to_json(const Script& script);
/// The inverse. Throws InputError if it is none, or of names that this version does not have.
Script script_from_json(const nlohmann::ordered_json& json);

}  // namespace ayatori::tuning
