#pragma once

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::solvers {

/// Collective. Whether a map of pairs is linear in complex numbers, up to a millionth, as System::is_complex
/// asks of M: whether it commutes with i on a vector that has no reason to hide it. Two applications. Factors
/// of a real form that drop entries one by one are not.
bool is_complex_linear(const GlobalSum& sum, const sparse::LinearOperator& op);

}  // namespace ayatori::solvers
