#pragma once

#include <span>
#include <string>

#include "ayatori/mapping/objectives/evaluation.hpp"

namespace ayatori::mapping {

/// Two placements of the same graph on the same network side by side, as SVG: above, which places (ranks,
/// node by node) send how many bytes to which, with the nodes' borders where there are few; below, the
/// network with the load of every link. Both pictures have one scale.
std::string draw_svg(const Evaluation& before, const Evaluation& after, const std::string& title);

}  // namespace ayatori::mapping
