#pragma once

#include <vector>

#include "ayatori/collectives/schedules/schedule.hpp"
#include "ayatori/network/hierarchy_links.hpp"

namespace ayatori::collectives {

/// What the executor does with a schedule on a network, event by event: prepared once, then told for as many
/// sizes as one likes.
///
/// A segment begins a stage of a rank when it has ended the one before, and the segment `under_way` before it
/// has ended this one. A message starts when both of its ends are posted; messages that one rank starts at
/// once, or that reach it at once, are network.gap() apart. It takes its latency; then its bytes flow at the
/// max-min fair share of the lanes and ports that it passes, at most as fast as alone. A send that is eager
/// is complete when it is posted, others when their bytes are there. What a rank has to combine it combines
/// one after the other.
class Replay {
 public:
  /// `schedule`: one without a violation (validate.hpp), which need not outlive this; `network` has to.
  /// Throws InputError if the network has fewer ranks.
  Replay(const Schedule& schedule, const network::Hierarchy& network);

  /// From the common start to the end of the last step. `bytes`: of the buffer, which is that of all blocks
  /// where the operation is by rank.
  double seconds(double bytes) const;

 private:
  /// From one rank to another, past these of `passed_`.
  struct Route {
    int from;
    int to;
    double farther;  ///< network::Hierarchy::farther()
    int begin;
    int end;
  };
  /// What decides how long a message takes that is alone on its way.
  struct Kind {
    int level = 0;
    bool both_ways = false;  ///< an end of it sends and receives at this level in one stage
    bool many = false;       ///< others are on their way at this level in the same stage
    bool reduces = false;
    double share = 0;  ///< share of the segment

    auto operator<=>(const Kind&) const = default;
  };
  struct Message {
    int route = -1;
    int kind = -1;
    int sent_in = -1;  ///< post
    int arrives_in = -1;
  };
  /// A stage of a rank. Its steps are those of `posted_` from here to the next post's.
  struct Post {
    int begin;
    bool is_first = false;  ///< the first post of its rank
    bool is_last = false;
  };
  class Run;

  /// The two steps of a message.
  static int send_step(int message) { return 2 * message; }
  static int arrival_step(int message) { return 2 * message + 1; }

  int add_route(int from, int to, int rail);
  void add_posts(const Schedule& schedule);
  void add_messages(const Schedule& schedule);

  const network::Hierarchy& network_;
  network::HierarchyLinks links_;
  Segmentation segmentation_;
  std::vector<int> passed_;
  std::vector<Route> routes_;
  // What one segment consists of: the others differ in length only.
  std::vector<Kind> kinds_;
  std::vector<Message> messages_;  ///< in the order in which their senders post them
  std::vector<Post> posts_;        ///< rank by rank, and one more for the end
  std::vector<int> posted_;        ///< steps
};

}  // namespace ayatori::collectives
