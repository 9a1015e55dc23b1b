#pragma once

#include <algorithm>
#include <vector>

namespace ayatori::collectives {

/// The ways to write a number as a product of factors from 2 to `most`, in every order.
inline std::vector<std::vector<int>> ordered_factorizations(int number, int most) {
  if (number == 1) return {{}};
  std::vector<std::vector<int>> all;
  for (int factor = 2; factor <= std::min(number, most); ++factor) {
    if (number % factor != 0) continue;
    for (auto& rest : ordered_factorizations(number / factor, most)) {
      rest.insert(rest.begin(), factor);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

}  // namespace ayatori::collectives
