#pragma once

// All that an application needs which has a matrix in memory, or in a file, and wants its systems solved.

#include "ayatori/base/error.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"
#include "ayatori/session/problem/rows_in_memory.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/session/solve/matrix_solver.hpp"
#include "ayatori/session/solve/operator_solver.hpp"
