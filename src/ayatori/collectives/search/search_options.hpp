#pragma once

namespace ayatori::collectives {

/// What a search may take.
struct SearchOptions {
  int most_radix = 64;      ///< members of a digit that is exchanged directly
  bool words_only = false;  ///< neither rings, circulant graphs, leaders nor segments: Imamura's section 3.4,
                            ///< for radices of 2
  bool keeps_order = false;   ///< right for operators that do not commute
  bool reproducible = false;  ///< for every size the same bits (reductions)
  int most_segments = 256;
  int finalists = 20;  ///< that are replayed, for every size; 0: the model alone decides

  /// Whether only words are tried whose digits all ranks exchange directly.
  bool is_restricted() const { return words_only || keeps_order || reproducible; }
};

}  // namespace ayatori::collectives
