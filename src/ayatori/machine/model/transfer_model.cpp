#include "ayatori/machine/model/transfer_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ayatori::machine {

namespace {

constexpr std::size_t fewest_points = 3;
/// Relative errors below this are not worth a piece of their own.
constexpr double good_enough = 0.02;
/// Relative errors beyond this count linearly instead of squared (Huber).
constexpr double outlying = 0.1;
constexpr int rounds = 10;

struct Line {
  double alpha = 0;
  double beta = 0;
};

double relative_error(const Line& line, const TransferTime& time) {
  return (line.alpha + line.beta * time.bytes) / time.seconds - 1;
}

/// Huber's loss.
double loss(double error) {
  const double size = std::abs(error);
  return size <= outlying ? size * size : outlying * (2 * size - outlying);
}

/// The line with the least weighted sum of squared relative errors; beta is not negative, and alpha only
/// where it may be. Then the times are positive all the same, as far as the line is used.
Line weighted_line(std::span<const TransferTime> times, std::span<const double> weights,
                   bool may_be_negative) {
  // In units of the measured time every target is 1: minimise sum w (alpha / t + beta x / t - 1)^2.
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a1 = 0;
  double b1 = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double a = 1 / times[i].seconds;
    const double b = times[i].bytes / times[i].seconds;
    aa += weights[i] * a * a;
    ab += weights[i] * a * b;
    bb += weights[i] * b * b;
    a1 += weights[i] * a;
    b1 += weights[i] * b;
  }
  const double determinant = aa * bb - ab * ab;
  if (determinant > 1e-12 * aa * bb) {
    const Line line{(a1 * bb - b1 * ab) / determinant, (b1 * aa - a1 * ab) / determinant};
    const bool is_positive = line.alpha + line.beta * times.front().bytes > 0;
    if (line.beta >= 0 && (line.alpha >= 0 || (may_be_negative && is_positive))) return line;
    if (line.alpha < 0 && bb > 0) return {0, b1 / bb};
  }
  return {a1 / aa, 0};
}

/// The same with bad points weighed down (iteratively reweighted).
Line robust_line(std::span<const TransferTime> times, bool may_be_negative) {
  std::vector<double> weights(times.size(), 1.0);
  Line line = weighted_line(times, weights, may_be_negative);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < times.size(); ++i)
      weights[i] = std::min(1.0, outlying / std::max(std::abs(relative_error(line, times[i])), 1e-300));
    line = weighted_line(times, weights, may_be_negative);
  }
  return line;
}

struct Fit {
  Line line;
  double loss = 0;
};

/// A piece that does not begin at 0 may have a negative alpha: what a cache or the burst that a rate limiter
/// lets pass has saved before.
Fit fit_piece(std::span<const TransferTime> times, bool is_first) {
  Fit fit{robust_line(times, !is_first), 0};
  for (const auto& time : times) fit.loss += loss(relative_error(fit.line, time));
  return fit;
}

/// n log(mean loss) + 5 log n for every piece: alpha, beta, and three for the choice of where it begins,
/// since the best of many places fits noise as well.
double criterion(double loss, std::size_t pieces, std::size_t points) {
  const auto n = static_cast<double>(points);
  return n * std::log(loss / n + good_enough * good_enough) + 5 * static_cast<double>(pieces) * std::log(n);
}

/// The best partition into a number of pieces, by dynamic programming over where the last one begins.
struct Partition {
  double loss = std::numeric_limits<double>::infinity();
  std::size_t last_begin = 0;
};

}  // namespace

double TransferModel::seconds(double bytes) const {
  if (pieces.empty()) return 0;
  const auto after = std::ranges::upper_bound(pieces, bytes, {}, &TransferPiece::from);
  const TransferPiece& piece = after == pieces.begin() ? *after : *(after - 1);
  return piece.alpha + piece.beta * bytes;
}

double TransferModel::bandwidth() const {
  return pieces.empty() || pieces.back().beta == 0 ? 0 : 1 / pieces.back().beta;
}

TransferModel fit_transfers(std::span<const TransferTime> times) {
  const std::size_t n = times.size();
  if (n == 0) return {};
  const std::size_t most_pieces = std::max<std::size_t>(n / fewest_points, 1);
  // best[p][e]: the first e points in p + 1 pieces
  std::vector<std::vector<Partition>> best(most_pieces, std::vector<Partition>(n + 1));
  std::vector<std::vector<Fit>> fits(n, std::vector<Fit>(n + 1));
  for (std::size_t begin = 0; begin < n; ++begin) {
    for (std::size_t end = begin + 1; end <= n; ++end) {
      if (end - begin < std::min(fewest_points, n)) continue;
      const Fit fit = fits[begin][end] = fit_piece(times.subspan(begin, end - begin), begin == 0);
      if (begin == 0) best[0][end] = {fit.loss, 0};
    }
  }
  for (std::size_t p = 1; p < most_pieces; ++p) {
    for (std::size_t end = (p + 1) * fewest_points; end <= n; ++end) {
      for (std::size_t begin = p * fewest_points; begin + fewest_points <= end; ++begin) {
        const double total = best[p - 1][begin].loss + fits[begin][end].loss;
        if (total < best[p][end].loss) best[p][end] = {total, begin};
      }
    }
  }
  std::size_t pieces = 1;
  for (std::size_t p = 1; p < most_pieces; ++p) {
    if (criterion(best[p][n].loss, p + 1, n) < criterion(best[pieces - 1][n].loss, pieces, n)) pieces = p + 1;
  }

  TransferModel model;
  model.error = std::sqrt(best[pieces - 1][n].loss / static_cast<double>(n));
  std::size_t end = n;
  for (std::size_t p = pieces; p-- > 0;) {
    const std::size_t begin = best[p][end].last_begin;
    const Line line = fits[begin][end].line;
    model.pieces.push_back({begin == 0 ? 0 : times[begin].bytes, line.alpha, line.beta});
    end = begin;
  }
  std::ranges::reverse(model.pieces);
  return model;
}

}  // namespace ayatori::machine
