#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/transfers/window.hpp"

namespace ayatori::bench {

/// How panels travel along a row or column of the grid.
struct MatmulForm {
  std::string_view name;
  std::string_view description;
  bool overlap;    ///< the next panel is under way while the product with this one is computed
  bool one_sided;  ///< it is put into the memory of those who need it (NICAM's remote memory transfer)
};

std::span<const MatmulForm> matmul_forms();

/// One rank's panel to all ranks of a row or column of the grid, panel after panel, by two buffers in turns.
class PanelChannel {
 public:
  /// Collective over the grid. Ranks of the same `line` form a row or column, of the same number of ranks
  /// each. Panels of up to `longest` elements; a line of one rank has no buffers.
  PanelChannel(const comm::Comm& grid, int line, std::int64_t longest, const MatmulForm& form);

  int rank() const { return comm_.rank(); }
  bool alone() const { return comm_.size() == 1; }
  /// Where panel number `turn` is once it has come, and where its owner writes it before.
  double* buffer(std::int64_t turn);

  /// Collective over the line. Sends `count` elements of the owner's buffer. Nobody computes with panel
  /// `turn` - 2 any more.
  void start(std::int64_t turn, std::int64_t count, int owner);
  /// Collective over the line. The panel that was started last is there.
  void finish();
  bool is_under_way() const { return under_way_; }
  void progress() const { comm_.poke(); }

 private:
  comm::Comm comm_;
  MatmulForm form_;
  std::int64_t longest_;
  std::vector<int> others_;  ///< the line's other ranks, as numbered in the grid
  std::array<Array<double>, 2> buffers_;
  /// The buffers of the one-sided form. Of the whole grid: windows that disjoint communicators of a node make
  /// at the same time are mixed up by Open MPI 4.1, which names their memory by the communicator's number.
  std::optional<comm::Window> window_;
  std::vector<comm::Request> requests_;
  bool under_way_ = false;
};

}  // namespace ayatori::bench
