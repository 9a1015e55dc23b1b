#pragma once

#include "ayatori/solvers/block_method.hpp"
#include "ayatori/solvers/method.hpp"

// Each file of this folder defines one Method, or two; list.cpp names them all.

namespace ayatori::solvers {

extern const Method bicgstab_method;
extern const BlockMethod block_cg_method;
extern const BlockMethod block_gmres_method;
extern const Method cg_method;
extern const Method cocg_method;
extern const Method fgmres_method;
extern const Method gmres_method;
extern const Method idr_method;
extern const Method minres_method;
extern const Method pipelined_cg_method;
extern const Method pipelined_gmres_method;
extern const Method refined_cg_method;
extern const Method refined_gmres_method;

}  // namespace ayatori::solvers
