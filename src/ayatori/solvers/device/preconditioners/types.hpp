#pragma once

#include "ayatori/solvers/device/device_preconditioner.hpp"

// Each file of this folder defines one, or two; list.cpp names them all.

namespace ayatori::solvers {

extern const DevicePreconditionerType device_amg;
extern const DevicePreconditionerType device_block_jacobi;
extern const DevicePreconditionerType device_chebyshev;
extern const DevicePreconditionerType device_gmres_polynomial;
extern const DevicePreconditionerType device_jacobi;
extern const DevicePreconditionerType device_none;

}  // namespace ayatori::solvers
