#include "ayatori/solvers/preconditioners/polynomials/harmonic_ritz.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ayatori::solvers {

namespace {

extern "C" {
void dgesv_(const int* n, const int* columns, double* a, const int* lda, int* pivot, double* b,
            const int* ldb, int* info);
void dhseqr_(const char* job, const char* compz, const int* n, const int* low, const int* high, double* h,
             const int* ldh, double* real, double* imaginary, double* z, const int* ldz, double* work,
             const int* lwork, int* info);
}

}  // namespace

std::vector<std::complex<double>> harmonic_ritz_values(int d, std::span<const double> h, double below) {
  if (d < 1) return {};
  const auto size = static_cast<std::size_t>(d);
  std::vector<double> transposed(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) transposed[j + size * i] = h[i + size * j];
  std::vector<double> f(size, 0.0);
  f.back() = 1;
  std::vector<int> pivot(size);
  const int one = 1;
  int info = 0;
  dgesv_(&d, &one, transposed.data(), &d, pivot.data(), f.data(), &d, &info);
  if (info != 0) return {};
  std::vector<double> shifted(h.begin(), h.end());
  for (std::size_t i = 0; i < size; ++i) shifted[i + size * (size - 1)] += below * below * f[i];
  if (!std::ranges::all_of(shifted, [](double value) { return std::isfinite(value); })) return {};
  std::vector<double> real(size);
  std::vector<double> imaginary(size);
  std::vector<double> work(16 * size);
  const int lwork = static_cast<int>(work.size());
  dhseqr_("E", "N", &d, &one, &d, shifted.data(), &d, real.data(), imaginary.data(), nullptr, &one,
          work.data(), &lwork, &info);
  if (info != 0) return {};
  std::vector<std::complex<double>> values;
  for (std::size_t i = 0; i < size; ++i) values.emplace_back(real[i], imaginary[i]);
  return values;
}

std::vector<std::complex<double>> leja_ordered(std::vector<std::complex<double>> roots) {
  std::erase_if(roots,
                [](const auto& root) { return root.imag() < 0; });  // those of pairs follow their partner
  std::vector<std::complex<double>> ordered;
  while (!roots.empty()) {
    const auto rank = [&](const std::complex<double>& root) {
      if (ordered.empty()) return std::abs(root);
      double logarithm = 0;
      for (const auto& before : ordered)
        logarithm += std::log(std::max(std::abs(root - before), std::numeric_limits<double>::min()));
      return logarithm;
    };
    const auto next = std::ranges::max_element(roots, {}, rank);
    ordered.push_back(*next);
    if (next->imag() > 0) ordered.push_back(std::conj(*next));
    roots.erase(next);
  }
  return ordered;
}

}  // namespace ayatori::solvers
