#pragma once

#include <span>
#include <vector>

namespace ayatori::network {

/// What is under way past links that it shares with others.
struct Flow {
  std::span<const int> passed;  ///< links
  double limit = 0;             ///< bytes per second, if it were alone
  double rate = 0;
};

/// Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all
/// rates rise alike, and a flow's stops where a link that it passes is full, or at its own limit. It is known
/// where that is as soon as no flow of that link can stop earlier, elsewhere: that of far links need not be
/// waited for.
class FairShare {
 public:
  /// Bytes per second, by link.
  explicit FairShare(std::span<const double> capacities);

  void add(const Flow& flow);
  void remove(const Flow& flow);
  /// Gives a flow that is there an equal share of the fullest link: at once, and without regard to the
  /// others.
  void estimate(Flow& flow) const;
  /// Sets the rates of all flows that are there: in time linear in them for every link that has to wait for
  /// another one, that waits for another one, and so on.
  void assign(std::span<Flow> flows);

 private:
  struct Link {
    double capacity;
    int flows = 0;
    bool is_used = false;  ///< is in `used_`
    int open = 0;          ///< flows without a rate
    double left = 0;       ///< for them
  };
  bool stops(const Flow& flow) const;

  std::vector<Link> links_;
  std::vector<int> used_;      ///< links, some of them perhaps no longer
  std::vector<double> share_;  ///< by link: for each of its flows without a rate
  std::vector<char> waits_;    ///< by link: some flow stops earlier
  std::vector<int> filling_;   ///< links with flows without a rate
  std::vector<Flow*> open_;    ///< flows without a rate: it holds what they get at most
};

}  // namespace ayatori::network
