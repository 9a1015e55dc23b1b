#pragma once

#include <cstddef>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Transfers under way, waited for together or one by one. Allocates nothing once it has held as many.
class RequestList {
 public:
  void add(Request request);
  std::size_t size() const { return first_.size(); }

  /// None is left.
  void wait_all();
  /// The number of one that is complete, by the order in which they were added; the last one takes its place.
  /// There is one at least.
  std::size_t wait_any();
  /// Forgets them: after an error.
  void clear();

 private:
  std::vector<Request::Part> first_;  ///< their memory holds an array of MPI_Request, which may be shorter
  std::vector<std::vector<Request::Part>> more_;  ///< further parts of transfers that had to be cut
};

}  // namespace ayatori::comm
