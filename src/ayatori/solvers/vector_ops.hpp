#pragma once

#include <span>

#include "ayatori/solvers/global_sum.hpp"

// Threaded operations on the local pieces of distributed vectors. "Traffic" is the memory read and written, in doubles
// per element. Those that take a GlobalSum are collective.

namespace ayatori::solvers {

using Vector = std::span<double>;
using ConstVector = std::span<const double>;

void fill(Vector x, double value);                            ///< x = value; traffic 1
void copy(ConstVector x, Vector y);                           ///< y = x; traffic 2
void scale(double a, Vector x);                               ///< x = a x; traffic 2
void axpy(double a, ConstVector x, Vector y);                 ///< y = y + a x; traffic 3
void aypx(double a, ConstVector x, Vector y);                 ///< y = x + a y; traffic 3
void subtract(ConstVector x, ConstVector y, Vector z);        ///< z = x - y; traffic 3

double local_dot(ConstVector x, ConstVector y);               ///< this rank's part of (x, y); traffic 2
double local_max_abs(ConstVector x);                          ///< this rank's max |x_i|; NaN if any is NaN; traffic 1

double dot(const GlobalSum& sum, ConstVector x, ConstVector y);   ///< (x, y)
double norm(const GlobalSum& sum, ConstVector x);                 ///< ||x||_2

}  // namespace ayatori::solvers
