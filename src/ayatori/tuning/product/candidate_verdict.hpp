#pragma once

#include <string>

namespace ayatori::tuning {

/// Something that could have been chosen, and what became of it.
struct CandidateVerdict {
  std::string item;      ///< "kernel" or "halo"
  std::string name;      ///< in the list of its kind
  std::string verdict;   ///< "faster", "slower", "hopeless", "failed", "not tried", "excluded"
  std::string reason;    ///< in words with figures
  double predicted = 0;  ///< seconds of a product, before it was tried; 0: no prediction
  double measured = 0;   ///< the same, measured; 0: not measured
};

}  // namespace ayatori::tuning
