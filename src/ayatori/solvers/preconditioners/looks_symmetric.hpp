#pragma once

#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// Whether an entry and its mirror image are the same, as far as a rank's own square block and a sample of
/// its rows tell.
bool looks_symmetric(const sparse::Csr& a);

}  // namespace ayatori::solvers
